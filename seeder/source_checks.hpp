// What looks wrong in a source although every byte of it can be published: shards that are no shards. Blocking; any thread.
#pragma once

#include "common/core/bytes.hpp"
#include "common/core/ids.hpp"
#include "seeder/crew.hpp"
#include "seeder/source_tree.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace shoal::seeder {

// One sentence a finding, naming the file: `*.safetensors` whose header does not parse or whose tensors lie beyond the end, GGUF without its magic, a web page, a
// Git LFS pointer or zeros in place of weights, `*.index.json` that names files which are not published. Files that cannot be read are left to the publish itself.
Result<std::vector<std::string>> suspicious(Crew& crew, const SourceTree& tree, const std::vector<FileIndex>& which);
// The same of a file whose whole content is in memory; empty: nothing to say.
std::string suspicion(const SourceTree& tree, const SourceFile& file, ConstBytes content);

// The decisions. `head` is the beginning of the file (at least 4 KiB, or all of it); empty: nothing to say.
std::string suspicious_weights(std::string_view path, std::string_view head, std::uint64_t size);
// `header`: the JSON of a safetensors file, whose data are `data_bytes`.
std::string suspicious_safetensors(std::string_view header, std::uint64_t data_bytes);
// Files that a `*.index.json` names, relative to its directory; malformed if it cannot be understood.
Result<std::vector<std::string>> indexed_files(std::string_view index);

}  // namespace shoal::seeder
