// libtorrent's indices as our numbers, and back. Pure.
#pragma once

#include <libtorrent/storage_defs.hpp>
#include <libtorrent/units.hpp>

#include <cstdint>

namespace shoal::swarm {

inline std::uint32_t number(lt::storage_index_t storage)
{
    return static_cast<std::uint32_t>(storage);
}
inline std::uint32_t number(lt::piece_index_t piece)
{
    return static_cast<std::uint32_t>(static_cast<int>(piece));
}
inline lt::piece_index_t piece_index(std::uint32_t number)
{
    return lt::piece_index_t{static_cast<int>(number)};
}

}  // namespace shoal::swarm
