// What may be a model's name, a tag, a path in a revision (docs/format.md). Pure.
#pragma once

#include "common/core/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal::model {

inline constexpr std::size_t max_path_parts = 64;  // libtorrent refuses a file tree nested deeper than some 95

// "/"-separated parts of [A-Za-z0-9._-], each starting with a letter or digit, 255 bytes in all. Else invalid, naming the text.
Result<void> check_model_name(std::string_view name);

// [A-Za-z0-9][A-Za-z0-9._-]{0,127}
Result<void> check_tag(std::string_view tag);

// Relative, valid UTF-8, no empty, "." or ".." part, no NUL, no backslash, at most 64 parts of at most 255 bytes, 4096 in all; the first part does not start with ".shoal".
Result<void> check_path(std::string_view path);

// A name as part of a key or a file name: "/" becomes "~".
std::string flat_name(std::string_view model_name);

// Text for a message: control characters, what hides or reorders text, quotes, backslashes and invalid UTF-8 as \xNN, so that any name can be printed on
// one line and told from any other.
std::string printable(std::string_view text);

// fnmatch rules: `*` crosses "/", a trailing "/" means the directory.
bool glob_matches(const std::string& glob, const std::string& path);

}  // namespace shoal::model
