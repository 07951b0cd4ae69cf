#include "common/swarm/disk.hpp"

#include "common/crypto/block_tree.hpp"
#include "common/swarm/index.hpp"

#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/file_storage.hpp>
#include <libtorrent/storage_defs.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal::swarm {
namespace {

Result<std::vector<std::byte>> torrent_is_closed()
{
    return failure(Errc::interrupted, "reading a piece: the torrent is closed, or too much waits");
}

}  // namespace

lt::storage_error cancelled()
{
    return {lt::error_code{boost::system::errc::operation_canceled, boost::system::system_category()}, lt::operation_t::unknown};
}

Disk::Disk(std::shared_ptr<NetworkThread> network, DiskSink& sink, std::size_t buffer_bytes, unsigned threads, ReadUnit unit)
    : network_{std::move(network)}, sink_{sink}, arena_{buffer_bytes}, unit_{unit}, workers_{threads}
{}

Disk::~Disk()
{
    network_->close();
}

void Disk::resume(const RevisionId& revision)
{
    for (const std::uint32_t storage : storages_of(revision)) torrents_.at(storage).failed = false;
}

void Disk::make_way_for(const RevisionId& /*revision*/, PieceIndex /*piece*/, std::function<void(bool free)> ready)
{
    answer([ready = std::move(ready)] { ready(false); });
}

void Disk::expect(const RevisionId& /*revision*/, PieceIndex /*piece*/) {}

void Disk::tick(TimePoint /*now*/) {}

void Disk::close(const RevisionId& revision)
{
    for (const std::uint32_t storage : storages_of(revision)) {
        torrents_.at(storage).closing = true;
        std::vector<std::uint64_t> waiting;
        for (const auto& [id, fetch] : fetches_)
            if (fetch.storage == storage) waiting.push_back(id);
        for (const std::uint64_t id : waiting) answer([this, id] { fetched(id, torrent_is_closed()); });
        let_go(storage);
    }
}

void Disk::close_all()
{
    std::vector<RevisionId> all;
    all.reserve(torrents_.size());
    for (const auto& [storage, torrent] : torrents_) all.push_back(torrent.content->revision);
    for (const RevisionId& revision : all) close(revision);
}

lt::storage_holder Disk::new_torrent(const lt::storage_params& params, const std::shared_ptr<void>& /*torrent*/)
{
    const std::uint32_t storage = next_storage_++;
    Torrent torrent;
    torrent.content = sink_.content(params.path);
    torrent.verified = torrent.content->have;
    torrents_.emplace(storage, std::move(torrent));
    return {lt::storage_index_t{storage}, *this};
}

void Disk::remove_torrent(lt::storage_index_t storage)
{
    Torrent* of = torrent(number(storage));
    if (of == nullptr) return;
    if (!of->closing) close(of->content->revision);
    torrents_.erase(number(storage));
}

Disk::Torrent* Disk::torrent(std::uint32_t storage)
{
    const auto at = torrents_.find(storage);
    return at == torrents_.end() ? nullptr : &at->second;
}

std::vector<std::uint32_t> Disk::storages_of(const RevisionId& revision) const
{
    std::vector<std::uint32_t> storages;
    for (const auto& [storage, torrent] : torrents_)
        if (torrent.content->revision == revision) storages.push_back(storage);
    return storages;
}

void Disk::fail(Torrent& of, const Error& error)
{
    if (std::exchange(of.failed, true)) return;
    sink_.storage_failed(of.content->revision, error);
}

lt::disk_buffer_holder Disk::lend(std::size_t slot, std::size_t offset, int length)
{
    return {*this, reinterpret_cast<char*>(arena_.data(slot) + offset), length};
}

lt::disk_buffer_holder Disk::copy(ConstBytes bytes, int length)
{
    auto buffer = std::make_unique<char[]>(static_cast<std::size_t>(length));  // NOLINT(modernize-avoid-c-arrays): libtorrent takes a bare pointer
    std::memcpy(buffer.get(), bytes.data(), std::min(bytes.size(), static_cast<std::size_t>(length)));
    return {*this, buffer.release(), length};
}

void Disk::refuse(std::vector<Read> reads)
{
    for (Read& read : reads) answer([handler = std::move(read.handler)] { handler({}, cancelled()); });
}

void Disk::free_disk_buffer(char* buffer)
{
    if (const auto slot = arena_.slot_of(buffer))
        returned(*slot);
    else
        delete[] buffer;
}

void Disk::fetch(std::uint32_t storage, std::uint32_t piece, std::uint32_t offset, std::uint32_t length, Done done)
{
    const Torrent* of = torrent(storage);
    const std::uint64_t id = next_fetch_++;
    fetches_.emplace(id, Fetch{storage, std::move(done)});
    if (of == nullptr || of->closing) return answer([this, id] { fetched(id, torrent_is_closed()); });
    const std::uint32_t from = unit_ == ReadUnit::piece ? 0 : offset;
    const std::uint32_t whole = unit_ == ReadUnit::piece ? of->length(piece) : length;
    const bool queued = workers_.run([this, network = network_, content = of->content, id, piece, from, whole, skip = offset - from, length] {
        std::vector<std::byte> bytes(whole);
        Result<std::vector<std::byte>> result = std::vector<std::byte>{};
        if (const auto read = content->storage->read({piece}, from, bytes); !read)
            result = failure(read.error());
        else
            result = std::vector<std::byte>(bytes.begin() + skip, bytes.begin() + skip + length);
        network->post([this, id, result = std::move(result)] { fetched(id, result); });
    });
    if (!queued) answer([this, id] { fetched(id, torrent_is_closed()); });
}

void Disk::fetched(std::uint64_t id, const Result<std::vector<std::byte>>& bytes)
{
    const auto at = fetches_.find(id);
    if (at == fetches_.end()) return;  // answered when the torrent was closed
    const Fetch fetch = std::move(at->second);
    fetches_.erase(at);
    Torrent* of = torrent(fetch.storage);
    if (of != nullptr && !bytes && bytes.error().code != Errc::interrupted) fail(*of, bytes.error());
    fetch.done(bytes);
}

void Disk::hash_stored(std::uint32_t storage, lt::piece_index_t piece, lt::span<lt::sha256_hash> leaves, HashHandler handler)
{
    const Torrent* of = torrent(storage);
    const std::uint32_t length = of == nullptr ? 0 : of->length(number(piece));
    // The span points into the handler's own storage, so the one handler is moved to where it stays.
    const auto kept = std::make_shared<HashHandler>(std::move(handler));
    fetch(storage, number(piece), 0, length, [kept, piece, leaves](const Result<std::vector<std::byte>>& bytes) {
        if (!bytes) return (*kept)(piece, {}, cancelled());
        std::vector<Digest> digests(crypto::blocks_in(bytes.value().size()));
        crypto::hash_blocks(bytes.value(), digests);
        for (std::size_t i = 0; i < std::min(digests.size(), static_cast<std::size_t>(leaves.size())); ++i)
            std::memcpy(leaves[static_cast<std::ptrdiff_t>(i)].data(), digests[i].bytes.data(), Digest::size);
        (*kept)(piece, {}, {});
    });
}

void Disk::async_hash2(lt::storage_index_t storage, lt::piece_index_t piece, int offset, lt::disk_job_flags_t /*flags*/, BlockHashHandler handler)
{
    const Torrent* of = torrent(number(storage));
    const std::uint32_t length = of == nullptr ? 0 : of->length(number(piece));
    const auto from = static_cast<std::uint32_t>(offset);
    if (from >= length) return answer([handler = std::move(handler), piece] { handler(piece, {}, cancelled()); });
    const auto size = std::min(static_cast<std::uint32_t>(crypto::block_size), length - from);
    fetch(number(storage), number(piece), from, size, [handler = std::move(handler), piece](const Result<std::vector<std::byte>>& bytes) {
        if (!bytes) return handler(piece, {}, cancelled());
        Digest digest;
        crypto::hash_blocks(bytes.value(), {&digest, 1});
        handler(piece, lt::sha256_hash{reinterpret_cast<const char*>(digest.bytes.data())}, {});
    });
}

void Disk::read_stored(std::uint32_t storage, const lt::peer_request& request, ReadHandler handler)
{
    const Torrent* of = torrent(storage);
    const std::uint32_t length = of == nullptr ? 0 : of->length(number(request.piece));
    const auto from = std::min(static_cast<std::uint32_t>(request.start), length);
    const auto size = std::min(static_cast<std::uint32_t>(request.length), length - from);
    fetch(
        storage, number(request.piece), from, size, [this, asked = request.length, handler = std::move(handler)](const Result<std::vector<std::byte>>& bytes) {
            if (!bytes) return handler({}, cancelled());
            handler(copy(bytes.value(), asked), {});
        });
}

void Disk::async_check_files(lt::storage_index_t /*storage*/, const lt::add_torrent_params* /*resume_data*/,
    lt::aux::vector<std::string, lt::file_index_t> /*links*/, std::function<void(lt::status_t, const lt::storage_error&)> handler)
{
    answer([handler = std::move(handler)] { handler(lt::status_t::no_error, {}); });  // what is there was said with `have`
}

void Disk::async_release_files(lt::storage_index_t /*storage*/, std::function<void()> handler)
{
    if (handler) answer(std::move(handler));
}

void Disk::async_stop_torrent(lt::storage_index_t /*storage*/, std::function<void()> handler)
{
    if (handler) answer(std::move(handler));  // pausing: what was received in part stays. Before a torrent goes, close() is called
}

void Disk::async_move_storage(lt::storage_index_t /*storage*/, std::string path, lt::move_flags_t /*flags*/,
    std::function<void(lt::status_t, const std::string&, const lt::storage_error&)> handler)
{
    answer([handler = std::move(handler), path = std::move(path)] { handler(lt::status_t::fatal_disk_error, path, cancelled()); });
}

void Disk::async_rename_file(lt::storage_index_t /*storage*/, lt::file_index_t file, std::string name,
    std::function<void(const std::string&, lt::file_index_t, const lt::storage_error&)> handler)
{
    answer([handler = std::move(handler), file, name = std::move(name)] { handler(name, file, cancelled()); });
}

void Disk::async_delete_files(lt::storage_index_t /*storage*/, lt::remove_flags_t /*options*/, WriteHandler handler)
{
    answer([handler = std::move(handler)] { handler(cancelled()); });  // the files are their owner's
}

void Disk::async_set_file_priority(lt::storage_index_t /*storage*/, lt::aux::vector<lt::download_priority_t, lt::file_index_t> priorities,
    std::function<void(const lt::storage_error&, lt::aux::vector<lt::download_priority_t, lt::file_index_t>)> handler)
{
    answer([handler = std::move(handler), priorities = std::move(priorities)] { handler({}, priorities); });
}

void Disk::update_stats_counters(lt::counters& /*counters*/) const {}

std::vector<lt::open_file_state> Disk::get_status(lt::storage_index_t /*storage*/) const
{
    return {};
}

void Disk::abort(bool /*wait*/)
{
    close_all();
}

void Disk::submit_jobs() {}

void Disk::settings_updated() {}

}  // namespace shoal::swarm
