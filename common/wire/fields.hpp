// The keys of every message, once, for encoding and decoding alike (docs/protocol.md). Internal to common/wire.
#pragma once

#include "common/wire/beat.hpp"
#include "common/wire/msgpack_guard.hpp"

#include <cstddef>
#include <tuple>

namespace shoal::wire {

enum class Presence : std::uint8_t { optional, required };  // a required key is always written, and its absence is malformed

template <typename Message, typename Member>
struct Field {
    const char* key;
    Member Message::*member;
    Presence presence = Presence::optional;
    std::size_t limit = max_items;  // of an array or map
};
template <typename Message, typename Member>
Field(const char*, Member Message::*) -> Field<Message, Member>;
template <typename Message, typename Member>
Field(const char*, Member Message::*, Presence) -> Field<Message, Member>;
template <typename Message, typename Member>
Field(const char*, Member Message::*, Presence, std::size_t) -> Field<Message, Member>;

inline constexpr std::size_t max_addresses = 16;
inline constexpr std::size_t max_labels = 64;
inline constexpr std::size_t max_neighbours = 256;

constexpr auto fields(const Holding&)
{
    return std::tuple{Field{"revision", &Holding::revision, Presence::required}, Field{"model", &Holding::model}, Field{"state", &Holding::state},
        Field{"bytes_total", &Holding::bytes_total}, Field{"bytes_have", &Holding::bytes_have}, Field{"from_origin", &Holding::from_origin},
        Field{"from_peers", &Holding::from_peers}, Field{"sent", &Holding::sent}, Field{"rate", &Holding::rate}, Field{"trouble", &Holding::trouble},
        Field{"missing", &Holding::missing}};
}

constexpr auto fields(const Received&)
{
    return std::tuple{Field{"from", &Received::from, Presence::required}, Field{"bytes", &Received::bytes}};
}

constexpr auto fields(const Workload&)
{
    return std::tuple{Field{"namespace", &Workload::pod_namespace}, Field{"pod", &Workload::pod_name}, Field{"uid", &Workload::pod_uid},
        Field{"workload", &Workload::workload}};
}

constexpr auto fields(const OriginSlice&)
{
    return std::tuple{Field{"rate", &OriginSlice::rate}, Field{"number", &OriginSlice::number}};
}

constexpr auto fields(const Confirmed&)
{
    return std::tuple{Field{"tracker", &Confirmed::tracker, Presence::required}, Field{"number", &Confirmed::number}};
}

constexpr auto fields(const Beat&)
{
    constexpr Presence optional = Presence::optional;
    return std::tuple{Field{"version", &Beat::version, Presence::required}, Field{"peer", &Beat::peer, Presence::required}, Field{"instance", &Beat::instance},
        Field{"key", &Beat::key}, Field{"role", &Beat::role}, Field{"sequence", &Beat::sequence}, Field{"full", &Beat::full}, Field{"leaving", &Beat::leaving},
        Field{"dialable", &Beat::dialable}, Field{"port", &Beat::port}, Field{"addresses", &Beat::addresses, optional, max_addresses},
        Field{"software", &Beat::software}, Field{"node", &Beat::node}, Field{"zone", &Beat::zone}, Field{"rack", &Beat::rack},
        Field{"labels", &Beat::labels, optional, max_labels}, Field{"workload", &Beat::workload}, Field{"holdings", &Beat::holdings},
        Field{"dropped", &Beat::dropped}, Field{"received", &Beat::received}, Field{"wait_ms", &Beat::wait_ms}, Field{"origin_rate", &Beat::origin_rate},
        Field{"origin_busy", &Beat::origin_busy}, Field{"origin_confirmed", &Beat::origin_confirmed, optional, max_trackers}};
}

constexpr auto fields(const Neighbour&)
{
    return std::tuple{Field{"peer", &Neighbour::peer, Presence::required}, Field{"key", &Neighbour::key}, Field{"role", &Neighbour::role},
        Field{"nearness", &Neighbour::nearness}, Field{"dial", &Neighbour::dial}, Field{"complete", &Neighbour::complete},
        Field{"dialable", &Neighbour::dialable}, Field{"holds_some", &Neighbour::holds_some}, Field{"zone", &Neighbour::zone},
        Field{"endpoints", &Neighbour::endpoints, Presence::optional, max_addresses}};
}

constexpr auto fields(const Swarm&)
{
    return std::tuple{Field{"revision", &Swarm::revision, Presence::required}, Field{"model", &Swarm::model},
        Field{"neighbours", &Swarm::neighbours, Presence::optional, max_neighbours}, Field{"withdrawn", &Swarm::withdrawn}, Field{"missing", &Swarm::missing},
        Field{"seeders", &Swarm::seeders, Presence::optional, max_neighbours}, Field{"wanting", &Swarm::wanting}};
}

constexpr auto fields(const Wish&)
{
    return std::tuple{Field{"revision", &Wish::revision, Presence::required}, Field{"model", &Wish::model}};
}

constexpr auto fields(const Reply&)
{
    return std::tuple{Field{"version", &Reply::version, Presence::required}, Field{"tracker", &Reply::tracker, Presence::required},
        Field{"beat_ms", &Reply::beat_ms, Presence::required}, Field{"need_full", &Reply::need_full}, Field{"refusal", &Reply::refusal},
        Field{"warning", &Reply::warning}, Field{"young", &Reply::young}, Field{"stock_clients", &Reply::stock_clients}, Field{"zone", &Reply::zone},
        Field{"rack", &Reply::rack}, Field{"swarms", &Reply::swarms}, Field{"wishes", &Reply::wishes}, Field{"origin_capped", &Reply::origin_capped},
        Field{"origin", &Reply::origin}, Field{"origin_copies", &Reply::origin_copies}};
}

// The largest value of each enumeration that this version knows.
constexpr auto last(Role)
{
    return Role::seeder;
}
constexpr auto last(HoldState)
{
    return HoldState::withdrawn;
}
constexpr auto last(Nearness)
{
    return Nearness::remote;
}

}  // namespace shoal::wire
