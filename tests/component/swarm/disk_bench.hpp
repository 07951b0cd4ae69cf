// One torrent in one disk backend, driven as libtorrent drives it. For tests of shoal_swarm.
#pragma once

#include "common/crypto/block_tree.hpp"
#include "common/model/torrent.hpp"
#include "common/swarm/piece_disk.hpp"
#include "common/swarm/run_disk.hpp"
#include "tests/swarm/content.hpp"

#include <libtorrent/disk_observer.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/storage_defs.hpp>
#include <libtorrent/torrent_info.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace shoal::swarm {

inline constexpr int block = 16384;

struct RecordingSink final : DiskSink {
    std::shared_ptr<const DiskContent> content(const std::string& path) override { return contents.at(path); }
    void storage_failed(const RevisionId&, const Error& error) override { failures.push_back(error); }
    void block_taken(const RevisionId&, PieceIndex piece, std::uint32_t number) override { taken.emplace(piece.value, number); }
    void piece_judged(const RevisionId&, PieceIndex piece, bool right, std::span<const Digest>) override { (right ? passed : wrong).push_back(piece.value); }
    void piece_reopened(const RevisionId&) override { ++reopened; }
    void begin_trust() override { ++trusting; }
    void end_trust() override { --trusting; }

    std::map<std::string, std::shared_ptr<const DiskContent>> contents;
    std::vector<Error> failures;
    std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
    std::vector<std::uint32_t> passed, wrong;
    int trusting = 0;
    int reopened = 0;
};

struct Observer final : lt::disk_observer {
    void on_disk() override { ++told; }
    int told = 0;
};

// One torrent in one backend, and this test as its network thread.
class Bench : public testing::Test {
protected:
    enum class Backend { runs, pieces };
    void open(Backend backend, const Content& content, MemoryStorage::Holds holds, std::size_t buffer_bytes = 64U << 20U, unsigned threads = 2)
    {
        content_ = &content;
        storage = std::make_shared<MemoryStorage>(content, holds);
        const std::vector<bool> have(content.pieces.size(), holds == MemoryStorage::Holds::all);
        sink.contents["here"] = std::make_shared<DiskContent>(DiskContent{content.revision, content.layout, content.layers, storage, have});
        const auto network = std::make_shared<NetworkThread>(context);
        if (backend == Backend::runs)
            disk = std::make_unique<RunDisk>(network, sink, buffer_bytes, threads);
        else
            disk = std::make_unique<PieceDisk>(network, sink, buffer_bytes, threads);
        const std::string file = model::torrent_file(*content.layout, *content.layers, content.revision);
        info = std::make_unique<lt::torrent_info>(lt::span<const char>{file.data(), static_cast<std::ptrdiff_t>(file.size())}, lt::from_span);
        const lt::aux::vector<lt::download_priority_t, lt::file_index_t> priorities;
        const std::string path = "here";
        holder = disk->new_torrent({info->files(), nullptr, path, lt::storage_mode_sparse, priorities, {}}, nullptr);
    }
    void TearDown() override
    {
        if (storage) storage->stick(false);
        if (!disk) return;
        disk->abort(true);
        EXPECT_TRUE(until([this] { return waiting == 0; }));  // each handler is called once, whatever happens
        holder.reset();
    }

    bool until(const std::function<bool()>& so, std::chrono::milliseconds within = std::chrono::seconds{10})
    {
        const auto deadline = std::chrono::steady_clock::now() + within;
        while (!so()) {
            context.restart();
            context.run_one_for(std::chrono::milliseconds{10});
            if (std::chrono::steady_clock::now() > deadline) return false;
        }
        return true;
    }
    // All that is on its way without the storage's doing.
    void settle()
    {
        context.restart();
        context.poll();
    }

    static lt::peer_request request(std::uint32_t piece, int start, int length = block) { return {lt::piece_index_t{static_cast<int>(piece)}, start, length}; }

    struct Answer {
        lt::disk_buffer_holder buffer;
        lt::storage_error error;
        [[nodiscard]] std::string text() const { return {buffer.data(), static_cast<std::size_t>(buffer.size())}; }
    };
    std::shared_ptr<std::optional<Answer>> start_read(const lt::peer_request& what)
    {
        auto answer = std::make_shared<std::optional<Answer>>();
        ++waiting;
        disk->async_read(holder, what, [this, answer](lt::disk_buffer_holder buffer, const lt::storage_error& error) {
            --waiting;
            answer->emplace(Answer{std::move(buffer), error});
        });
        return answer;
    }
    Answer read(const lt::peer_request& what)
    {
        auto answer = start_read(what);
        EXPECT_TRUE(until([&] { return answer->has_value(); }));
        return answer->has_value() ? std::move(**answer) : Answer{{}, cancelled()};
    }

    struct Write {
        std::optional<lt::storage_error> result;
        bool stop = false;  // what async_write said
    };
    std::shared_ptr<Write> write(std::uint32_t piece, int start, std::shared_ptr<lt::disk_observer> observer = nullptr, bool spoil = false)
    {
        std::string bytes = content_->pieces[piece].substr(static_cast<std::size_t>(start), block);
        const int length = static_cast<int>(bytes.size());
        if (spoil) bytes[0] = static_cast<char>(bytes[0] ^ 1);
        auto written = std::make_shared<Write>();
        ++waiting;
        written->stop =
            disk->async_write(holder, request(piece, start, length), bytes.data(), std::move(observer), [this, written](const lt::storage_error& error) {
                --waiting;
                EXPECT_FALSE(written->result);
                written->result = error;
            });
        return written;
    }
    std::vector<std::shared_ptr<Write>> write_piece(std::uint32_t piece, const std::set<int>& spoiled = {})
    {
        std::vector<std::shared_ptr<Write>> writes;
        for (int start = 0; start < static_cast<int>(content_->pieces[piece].size()); start += block)
            writes.push_back(write(piece, start, nullptr, spoiled.contains(start / block)));
        return writes;
    }
    struct Hashed {
        std::vector<lt::sha256_hash> leaves;
        std::optional<lt::storage_error> result;
    };
    std::shared_ptr<Hashed> hash(std::uint32_t piece)
    {
        auto hashed = std::make_shared<Hashed>();
        std::vector<lt::sha256_hash> leaves((content_->pieces[piece].size() + block - 1) / block);
        const lt::span<lt::sha256_hash> span{leaves};
        ++waiting;
        // As libtorrent does it: the span points into the handler.
        disk->async_hash(holder, lt::piece_index_t{static_cast<int>(piece)}, span, {},
            [this, hashed, leaves = std::move(leaves)](lt::piece_index_t, const lt::sha1_hash&, const lt::storage_error& error) mutable {
                --waiting;
                hashed->leaves = std::move(leaves);
                hashed->result = error;
            });
        return hashed;
    }
    [[nodiscard]] std::string leaf(std::uint32_t piece, std::size_t number) const
    {
        const std::string bytes = content_->pieces[piece].substr(number * block, block);
        Digest digest;
        crypto::hash_blocks(as_bytes(bytes), {&digest, 1});
        return {reinterpret_cast<const char*>(digest.bytes.data()), Digest::size};
    }

    lt::io_context context;
    RecordingSink sink;
    std::shared_ptr<MemoryStorage> storage;
    std::unique_ptr<Disk> disk;
    std::unique_ptr<lt::torrent_info> info;
    lt::storage_holder holder;
    const Content* content_ = nullptr;
    int waiting = 0;  // handlers not called yet
};

inline const Content& three_files()
{
    static const Content content = make_content({3 * 262144 + 70'000, 1000, 262144});
    return content;
}

inline const Content& large_pieces()
{
    static const Content content = make_content({8U << 20U}, 1U << 20U, 2);
    return content;
}

}  // namespace shoal::swarm
