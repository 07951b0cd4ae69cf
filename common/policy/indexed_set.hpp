// A set whose members can be drawn at random: by position, in no order. A value.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace shoal::policy {

template <typename T>
class IndexedSet {
public:
    bool insert(const T& item)
    {
        if (!positions_.emplace(item, items_.size()).second) return false;
        items_.push_back(item);
        return true;
    }
    bool erase(const T& item)  // the last takes its place
    {
        const auto found = positions_.find(item);
        if (found == positions_.end()) return false;
        const std::size_t position = found->second;
        positions_.erase(found);
        if (position + 1 != items_.size()) {
            items_[position] = items_.back();
            positions_[items_[position]] = position;
        }
        items_.pop_back();
        return true;
    }
    [[nodiscard]] bool contains(const T& item) const { return positions_.contains(item); }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] bool empty() const { return items_.empty(); }
    [[nodiscard]] const T& operator[](std::size_t position) const { return items_[position]; }
    [[nodiscard]] auto begin() const { return items_.begin(); }
    [[nodiscard]] auto end() const { return items_.end(); }

private:
    std::vector<T> items_;
    std::unordered_map<T, std::size_t> positions_;
};

}  // namespace shoal::policy
