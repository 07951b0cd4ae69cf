#include "seeder/complaints.hpp"

#include "common/model/names.hpp"

#include <algorithm>

namespace shoal::seeder {
namespace {

constexpr std::size_t max_named = 50;  // a message must stay readable

}  // namespace

void Complaints::add(const std::string& path, const std::string& why)
{
    ++count_;
    if (count_ <= max_named) told_ += (told_.empty() ? "'" : ", '") + model::printable(path) + "' " + why;
}

bool Complaints::takes(const std::string& path)
{
    const auto storable = model::check_path(path);
    if (storable) return true;
    const std::string& message = storable.error().message;  // "…: '<path>': <why>"
    add(path, "cannot be stored: " + message.substr(std::min(message.rfind("': "), message.size() - 3) + 3));
    return false;
}

std::optional<Error> Complaints::error(const std::string& source, const char* hint) const
{
    if (count_ == 0) return std::nullopt;
    const std::string more = count_ > max_named ? " and " + std::to_string(count_ - max_named) + " more" : "";
    return Error{Errc::invalid, "cannot publish: " + source + ": " + told_ + more, hint};
}

}  // namespace shoal::seeder
