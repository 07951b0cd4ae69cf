#include "common/wire/beat.hpp"

#include "common/wire/fields.hpp"
#include "common/wire/msgpack_guard.hpp"

#include <msgpack.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace shoal::wire {
namespace {

using Packer = msgpack::packer<msgpack::sbuffer>;

template <typename T>
concept Message = requires(const T& value)
{
    fields(value);
};

// --- encoding

template <std::integral T>
void put(Packer& out, T value)
{
    out.pack(value);
}

template <typename E>
requires std::is_enum_v<E>
void put(Packer& out, E value)
{
    out.pack(static_cast<unsigned>(value));
}

void put(Packer& out, const std::string& text)
{
    out.pack_str(static_cast<std::uint32_t>(text.size()));
    out.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
}

template <typename Tag, std::size_t N>
void put(Packer& out, const Opaque<Tag, N>& id)
{
    out.pack_bin(N);
    out.pack_bin_body(reinterpret_cast<const char*>(id.bytes.data()), N);
}

void put(Packer& out, const std::map<std::string, std::string>& texts)
{
    out.pack_map(static_cast<std::uint32_t>(texts.size()));
    for (const auto& [key, value] : texts) {
        put(out, key);
        put(out, value);
    }
}

template <Message M>
void put(Packer& out, const M& message);

template <typename T>
void put(Packer& out, const std::vector<T>& items)
{
    out.pack_array(static_cast<std::uint32_t>(items.size()));
    for (const T& item : items) put(out, item);
}

// A key whose value is the default is left out: absent means default.
template <Message M>
void put(Packer& out, const M& message)
{
    static const M defaults;
    const auto written = [&message](const auto& field) { return field.presence == Presence::required || message.*field.member != defaults.*field.member; };
    std::apply(
        [&](const auto&... field) {
            out.pack_map(static_cast<std::uint32_t>((0U + ... + (written(field) ? 1U : 0U))));
            const auto put_field = [&](const auto& one) {
                if (!written(one)) return;
                put(out, std::string{one.key});
                put(out, message.*one.member);
            };
            (put_field(field), ...);
        },
        fields(message));
}

template <Message M>
std::string encoded(const M& message)
{
    msgpack::sbuffer buffer;
    Packer packer{buffer};
    put(packer, message);
    return {buffer.data(), buffer.size()};
}

// --- decoding: true, or false with the key at fault in `where`

struct Place {
    std::string where;  // innermost key first
    bool too_large = false;
    bool fail(const char* key)
    {
        where = where.empty() ? key : std::string{key} + "." + where;
        return false;
    }
};

std::string_view text_of(const msgpack::object& object)
{
    if (object.type == msgpack::type::STR) return {object.via.str.ptr, object.via.str.size};
    if (object.type == msgpack::type::BIN) return {object.via.bin.ptr, object.via.bin.size};
    return {};
}

template <std::integral T>
bool get(const msgpack::object& object, T& value, std::size_t, Place&)
{
    if (object.type != msgpack::type::POSITIVE_INTEGER || !std::in_range<T>(object.via.u64)) return false;
    value = static_cast<T>(object.via.u64);
    return true;
}

bool get(const msgpack::object& object, bool& value, std::size_t, Place&)
{
    if (object.type != msgpack::type::BOOLEAN) return false;
    value = object.via.boolean;
    return true;
}

template <typename E>
requires std::is_enum_v<E>
bool get(const msgpack::object& object, E& value, std::size_t, Place&)
{
    if (object.type != msgpack::type::POSITIVE_INTEGER || object.via.u64 > static_cast<std::uint64_t>(last(E{}))) return false;
    value = static_cast<E>(object.via.u64);
    return true;
}

bool get(const msgpack::object& object, std::string& text, std::size_t, Place&)
{
    if (object.type != msgpack::type::STR) return false;
    text = text_of(object);
    return true;
}

template <typename Tag, std::size_t N>
bool get(const msgpack::object& object, Opaque<Tag, N>& id, std::size_t, Place&)
{
    const std::string_view bytes = text_of(object);
    if (bytes.size() != N) return false;
    std::memcpy(id.bytes.data(), bytes.data(), N);
    return true;
}

bool get(const msgpack::object& object, std::map<std::string, std::string>& texts, std::size_t limit, Place& place)
{
    if (object.type != msgpack::type::MAP) return false;
    place.too_large = object.via.map.size > limit;
    if (place.too_large) return false;
    for (std::uint32_t i = 0; i < object.via.map.size; ++i) {
        std::string key;
        std::string value;
        const auto& pair = object.via.map.ptr[i];
        if (!get(pair.key, key, 0, place) || !get(pair.val, value, 0, place)) return false;
        texts.insert_or_assign(std::move(key), std::move(value));
    }
    return true;
}

template <Message M>
bool get(const msgpack::object& object, M& message, std::size_t, Place& place);

template <typename T>
bool get(const msgpack::object& object, std::vector<T>& items, std::size_t limit, Place& place)
{
    if (object.type != msgpack::type::ARRAY) return false;
    place.too_large = object.via.array.size > limit;
    if (place.too_large) return false;
    items.resize(object.via.array.size);
    for (std::uint32_t i = 0; i < object.via.array.size; ++i) {
        if (!get(object.via.array.ptr[i], items[i], 0, place)) return false;
    }
    return true;
}

const msgpack::object* find(const msgpack::object& map, std::string_view key)
{
    for (std::uint32_t i = 0; i < map.via.map.size; ++i) {
        const auto& pair = map.via.map.ptr[i];
        if (pair.key.type == msgpack::type::STR && text_of(pair.key) == key) return &pair.val;
    }
    return nullptr;
}

template <typename M, typename F>
bool get_field(const msgpack::object& map, M& message, const F& field, Place& place)
{
    const msgpack::object* found = find(map, field.key);
    if (found == nullptr) return field.presence == Presence::optional || place.fail(field.key);
    return get(*found, message.*field.member, field.limit, place) || place.fail(field.key);
}

template <Message M>
bool get(const msgpack::object& object, M& message, std::size_t, Place& place)
{
    if (object.type != msgpack::type::MAP) return false;
    return std::apply([&](const auto&... field) { return (get_field(object, message, field, place) && ...); }, fields(message));
}

template <Message M>
Result<M> read(const msgpack::object& object, const char* what)
{
    M message;
    Place place;
    if (object.type != msgpack::type::MAP) return failure(Errc::malformed, std::string{what} + ": not a map");
    const msgpack::object* version = find(object, "version");
    if (version != nullptr && get(*version, message.version, 0, place) && !understood(message.version)) return message;
    if (get(object, message, 0, place)) return message;
    if (place.too_large) return failure(Errc::too_large, std::string{what} + ": too many items in '" + place.where + "'");
    return failure(Errc::malformed, std::string{what} + ": '" + place.where + "' is missing or not what it should be");
}

template <Message M>
Result<M> decode(ConstBytes bytes, std::size_t limit, const char* what)
{
    if (bytes.size() > limit)
        return failure(Errc::too_large, std::string{what} + ": " + std::to_string(bytes.size()) + " bytes: at most " + std::to_string(limit));
    if (auto checked = check_msgpack(bytes); !checked) return failure(checked.error().code, std::string{what} + ": " + checked.error().message);
    const std::string_view text = as_text(bytes);
    try {
        // References into `bytes`, no copies: check_msgpack has bounded what is left to allocate.
        const auto handle = msgpack::unpack(text.data(), text.size(), [](msgpack::type::object_type, std::size_t, void*) { return true; });
        return read<M>(handle.get(), what);
    } catch (const msgpack::unpack_error& error) {
        return failure(Errc::malformed, std::string{what} + ": " + error.what());
    }
}

}  // namespace

std::string encode(const Beat& beat)
{
    return encoded(beat);
}

std::string encode(const Reply& reply)
{
    return encoded(reply);
}

Result<Beat> decode_beat(ConstBytes bytes)
{
    return decode<Beat>(bytes, max_beat_bytes, "beat");
}

Result<Reply> decode_reply(ConstBytes bytes)
{
    return decode<Reply>(bytes, max_reply_bytes, "reply");
}

}  // namespace shoal::wire
