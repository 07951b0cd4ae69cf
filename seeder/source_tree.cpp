#include "seeder/source_tree.hpp"

#include "common/model/manifest.hpp"
#include "common/model/names.hpp"

#include <algorithm>
#include <map>

namespace shoal::seeder {

bool Selection::takes(const std::string& path) const
{
    const auto matches = [&](const std::string& glob) { return model::glob_matches(glob, path); };
    return (include.empty() || std::any_of(include.begin(), include.end(), matches)) && !excludes(path);
}

bool Selection::excludes(const std::string& path) const
{
    return std::any_of(
        exclude.begin(), exclude.end(), [&](const std::string& glob) { return model::glob_matches(glob, path) || model::glob_matches(glob, path + "/"); });
}

std::uint64_t SourceTree::bytes() const
{
    std::uint64_t sum = 0;
    for (const SourceFile& file : files) sum += file.size;
    return sum;
}

Result<SourceTree> walk_source(const std::string& source, const WalkOptions& options)
{
    return source.starts_with("s3://") ? list_source(source, options) : walk_directory(source, options);
}

Result<SourceTree> finished(SourceTree tree, const Complaints& complaints, const char* hint)
{
    if (const auto refused = complaints.error(tree.name, hint)) return failure(*refused);
    if (tree.files.empty()) return failure(Errc::not_found, "nothing to publish: " + tree.name + ": no file is there, or --include and --exclude leave none");
    std::sort(tree.files.begin(), tree.files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return tree;
}

Error too_many_files(const SourceTree& tree)
{
    return {Errc::invalid, "too many files to publish: " + tree.name + ": expected at most " + std::to_string(model::max_files),
        "publish parts of it as models of their own, or leave files out by --exclude"};
}

Error source_changed(const std::string& name, std::uint64_t size, const std::string& found)
{
    return {Errc::integrity, "source changed while it was published: " + name + ": expected " + std::to_string(size) + " bytes as first seen, found " + found,
        "publish it again when nobody writes to it"};
}

std::vector<std::string> case_twins(const SourceTree& tree)
{
    std::map<std::string, std::string> folded;
    std::vector<std::string> twins;
    for (const SourceFile& file : tree.files) {
        std::string lower = file.path;
        std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        const auto [other, alone] = folded.emplace(std::move(lower), file.path);
        if (!alone) twins.push_back("'" + model::printable(other->second) + "'" + " and " + "'" + model::printable(file.path) + "'");
    }
    return twins;
}

}  // namespace shoal::seeder
