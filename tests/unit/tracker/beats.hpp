// Beats as tests of the tracker send them.
#pragma once

#include "common/wire/beat.hpp"

#include <cstdint>
#include <string>

namespace shoal::tracker {

template <typename Id>
Id numbered(std::uint32_t number)
{
    Id id;
    for (std::size_t i = 0; i < 4; ++i) id.bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
    return id;
}
inline PeerId peer(std::uint32_t number)
{
    return numbered<PeerId>(number);
}
inline RevisionId revision(std::uint32_t number)
{
    return numbered<RevisionId>(number + 1'000'000);
}

inline wire::Holding holding(std::uint32_t number, wire::HoldState state, std::string trouble = {})
{
    wire::Holding holding;
    holding.revision = revision(number);
    holding.model = "llama";
    holding.state = state;
    holding.bytes_total = 1000;
    holding.bytes_have = state == wire::HoldState::held ? 1000 : 0;
    holding.trouble = std::move(trouble);
    return holding;
}

// The first beat of a peer with an address of its own.
inline wire::Beat beat_of(std::uint32_t number, std::vector<wire::Holding> holdings = {})
{
    wire::Beat beat;
    beat.peer = peer(number);
    beat.key = numbered<MemberKey>(number);
    beat.instance = 1;
    beat.sequence = 1;
    beat.port = 6881;
    beat.addresses = {"10.0." + std::to_string(number / 256) + "." + std::to_string(number % 256)};
    beat.node = "node-" + std::to_string(number);
    beat.holdings = std::move(holdings);
    return beat;
}

inline wire::Beat seeder_beat(std::uint32_t number, std::vector<wire::Holding> holdings = {})
{
    wire::Beat beat = beat_of(number, std::move(holdings));
    beat.role = wire::Role::seeder;
    return beat;
}

// What follows it: only what has changed.
inline wire::Beat delta_of(const wire::Beat& before, std::vector<wire::Holding> changed = {})
{
    wire::Beat beat = before;
    beat.full = false;
    ++beat.sequence;
    beat.holdings = std::move(changed);
    return beat;
}

}  // namespace shoal::tracker
