// Hashes many contents at once: layer, pieces root and flat SHA-256 of each, reading each byte where it is hashed. On the threads of a crew.
//
// The flat digest of a content can only be computed in order, so every content has one thread that goes through it, and computes its tree on the way. Threads
// that find no content left to begin with help: they take pieces of the tree a little ahead of that thread, which then skips them. They read those bytes a
// second time, from the page cache, and are the read-ahead of a slow disk. So a single large file keeps more than one core busy.
#pragma once

#include "common/crypto/content_hasher.hpp"
#include "seeder/content.hpp"
#include "seeder/crew.hpp"

#include <functional>
#include <vector>

namespace shoal::seeder {

enum class Help { yes, no };  // no: where reading twice costs, or where reads are rationed

// Gets each content's digest or failure once, from any thread; its own failure ends the work.
using HashSink = std::function<Result<void>(std::size_t index, Result<crypto::ContentDigest> digest)>;

Result<void> hash_contents(Crew& crew, const std::vector<Content>& contents, std::uint32_t piece_size, Help help, const HashSink& sink);

// Of bytes in memory.
Result<crypto::TreeDigest> hash_tree(Crew& crew, ConstBytes bytes, std::uint32_t piece_size);
crypto::ContentDigest hash_small(ConstBytes bytes, std::uint32_t piece_size);  // on this thread

}  // namespace shoal::seeder
