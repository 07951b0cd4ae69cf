// `shoal-seeder ls`, `tag`, `untag`: what the catalog says, and its mutable names. Blocking; from main.
#pragma once

#include "common/core/result.hpp"
#include "seeder/publish.hpp"

#include <string>

namespace shoal::seeder {

struct ListOptions {
    std::string store;
    std::string model;  // empty: all
    Output output = Output::text;
};

struct TagOptions {
    std::string store;
    std::string model;
    std::string tag;
    std::string revision;  // "sha256:…"; of no use to untag
    Dry dry_run = Dry::no;
};

Result<void> list(const ListOptions& options);
Result<void> tag(const TagOptions& options);    // not_found unless the model has the revision
Result<void> untag(const TagOptions& options);  // not_found unless there is such a tag

}  // namespace shoal::seeder
