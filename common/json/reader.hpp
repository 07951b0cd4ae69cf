// JSON from elsewhere, read strictly: a limit on its shape before it is parsed, and each member taken by name and kind. Never throws. Any thread.
#pragma once

#include "common/core/ids.hpp"
#include "common/core/result.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::json {

using Value = nlohmann::json;  // objects are sorted by the bytes of their keys

// Parsing takes 16 bytes and more a value, and several times that for each that nests: what the reader has no use for is refused before.
struct Shape {
    std::size_t max_depth = 4;
    std::size_t max_commas = 500'000;
};

// malformed ("not JSON", "nested more than 4 deep"), or too_large ("more than 500000 values"); the caller says of what.
Result<Value> parse(std::string_view bytes, Shape shape = {});

// One object being read: takes its members by name, and remembers the first trouble. What is in trouble reads as empty, so it is asked for once, at the end.
class Reader {
public:
    // `where` goes before the trouble: "files[3]". The value must outlive the reader.
    explicit Reader(const Value& object, std::string where = {});

    void only(std::initializer_list<const char*> names);  // trouble if there are others
    const Value& value(const char* name);
    std::string text(const char* name);
    bool truth(const char* name);
    std::uint64_t number(const char* name, std::uint64_t most = std::numeric_limits<std::int64_t>::max());
    std::int64_t integer(const char* name);
    Digest digest(const char* name);  // 64 lower-case hexadecimal digits
    const Value::array_t& array(const char* name);
    std::vector<std::string> texts(const char* name);
    [[nodiscard]] bool has(const char* name) const { return object_.contains(name); }

    void fail(const std::string& what);
    [[nodiscard]] Result<void> result() const;  // malformed, with the first trouble and where

private:
    const Value& object_;
    std::string where_;
    std::string trouble_;
};

}  // namespace shoal::json
