// A whole seeder in this process: a scripted tracker, a real directory store, and a real swarm session as the peer, all on loopback.
#include "seeder/seeder.hpp"
#include "tests/component/seeder/scripted_tracker.hpp"
#include "tests/component/seeder/shelf.hpp"
#include "tests/component/seeder/watched_store.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <variant>

namespace shoal::seeder {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using wire::HoldState;

bool run_until(net::Loop& loop, const std::function<bool()>& so, Duration within = 20s)
{
    bool late = false;
    const net::Handle look = loop.every(2ms, [&] {
        if (so()) loop.stop();
    });
    const net::Handle deadline = loop.after(within, [&] {
        late = true;
        loop.stop();
    });
    loop.run();
    return !late;
}

// What a peer received.
class Memory final : public swarm::PieceStorage {
public:
    explicit Memory(const model::Layout& layout)
    {
        for (std::uint32_t piece = 0; piece < layout.pieces(); ++piece) pieces_.emplace_back(layout.place({piece}).length, '\0');
    }
    Result<void> read(PieceIndex piece, std::uint32_t offset, MutableBytes out) override
    {
        const std::lock_guard lock{mutex_};
        std::memcpy(out.data(), pieces_[piece.value].data() + offset, out.size());
        return success();
    }
    Result<void> write(PieceIndex piece, std::uint32_t offset, ConstBytes bytes) override
    {
        const std::lock_guard lock{mutex_};
        std::memcpy(pieces_[piece.value].data() + offset, bytes.data(), bytes.size());
        return success();
    }
    std::string piece(std::uint32_t index)
    {
        const std::lock_guard lock{mutex_};
        return pieces_[index];
    }

private:
    std::mutex mutex_;
    std::vector<std::string> pieces_;
};

class ServingSeeder : public testing::Test {
protected:
    void start(std::uint64_t origin_limit = 0)
    {
        ServeOptions options;
        options.trackers = {tracker.url()};
        options.listen = {"127.0.0.1:0"};
        options.origin_limit = origin_limit;
        options.node = "here";
        auto watched = std::make_unique<WatchedStore>(objectstore::open_store(shelf.url()).value());
        store = watched.get();
        auto opened = Seeder::open(loop, options, std::move(watched), metrics);
        ASSERT_TRUE(opened) << opened.error().text();
        seeder = std::move(opened.value());
        bool ready = false;
        seeder->start([&ready] { ready = true; });
        ASSERT_TRUE(run_until(loop, [&] { return ready && tracker.last; }));
        EXPECT_EQ(seeder->trouble(), "");
        join();
    }

    // The peer that the tracker tells of.
    void join()
    {
        swarm::SessionOptions options;
        options.peer = random_id<PeerId>();
        options.key = random_id<MemberKey>();
        options.listen = {"127.0.0.1:0"};
        auto opened = swarm::Session::open(options);
        ASSERT_TRUE(opened) << opened.error().text();
        peer = std::move(opened.value());
        tracker.peer = wire::Neighbour{options.peer, options.key, wire::Role::peer, wire::Nearness::rack, false, false, {}};
    }

    std::shared_ptr<Memory> want(const Placed& placed)
    {
        swarm::Torrent torrent;
        torrent.revision = placed.id;
        torrent.layout = std::make_shared<model::Layout>(placed.layout());
        torrent.layers = std::make_shared<model::Layers>(placed.layers);
        torrent.have.assign(torrent.layout->pieces(), false);
        auto memory = std::make_shared<Memory>(*torrent.layout);
        torrent.storage = memory;
        EXPECT_TRUE(peer->add(std::move(torrent)));
        tracker.wanted.insert(placed.id);
        return memory;
    }
    // As a peer does that hears from its tracker who serves.
    void introduce(const Placed& placed)
    {
        const wire::Beat& beat = *tracker.last;
        peer->set_members(placed.id, {{beat.peer, beat.key, true, true, {"127.0.0.1:" + std::to_string(beat.port)}}});
    }
    bool received(const Placed& placed)
    {
        for (const swarm::Event& event : peer->poll()) {
            if (const auto* complete = std::get_if<swarm::Complete>(&event)) complete_.insert(complete->revision);
        }
        return complete_.contains(placed.id);
    }
    bool run_until_said(const Placed& placed, HoldState state)
    {
        return run_until(loop, [&] { return tracker.said(placed.id, state); });
    }

    Shelf shelf;
    net::Loop loop;
    ScriptedTracker tracker{loop};
    std::shared_ptr<obs::Metrics> metrics = std::make_shared<obs::Metrics>("test");
    WatchedStore* store = nullptr;
    std::unique_ptr<Seeder> seeder;
    std::unique_ptr<swarm::Session> peer;

private:
    std::set<RevisionId> complete_;
};

const Files files{{"config.json", noise(1000, 1)}, {"weights.bin", noise(3'000'000, 2)}};

TEST_F(ServingSeeder, GivesWhatATrackerAsksForAndReadsItOnce)
{
    start();
    const Placed placed = shelf.place("llama", files);  // published while the seeder runs
    const auto memory = want(placed);
    ASSERT_TRUE(run_until_said(placed, HoldState::held));
    EXPECT_EQ(store->ranges, 0);  // nothing of the model is read before somebody asks
    introduce(placed);
    ASSERT_TRUE(run_until(loop, [&] { return received(placed); }));
    for (std::uint32_t piece = 0; piece < placed.layout().pieces(); ++piece) EXPECT_TRUE(memory->piece(piece) == placed.piece({piece}, files)) << piece;
    EXPECT_EQ(static_cast<std::uint32_t>(store->ranges), placed.layout().pieces());
    ASSERT_TRUE(run_until(loop, [&] { return tracker.holding(placed.id)->sent >= 3'001'000; }));
    EXPECT_EQ(tracker.holding(placed.id)->from_origin, 3'001'000U);
    EXPECT_EQ(tracker.holding(placed.id)->bytes_total, 3'001'000U);
    EXPECT_EQ(tracker.holding(placed.id)->model, "llama");
}

TEST_F(ServingSeeder, WrongBytesInTheStoreWithdrawTheRevisionAndNoOther)
{
    start();
    const Placed spoiled = shelf.place("llama", files);
    const Files other_files{{"weights.bin", noise(500'000, 7)}};
    const Placed other = shelf.place("mistral", other_files);
    const std::string blob = objectstore::blob_key(spoiled.layout().files()[1].pieces_root);
    Shelf::flip(shelf.object(blob), 2'000'000);
    const auto memory = want(spoiled);
    want(other);
    ASSERT_TRUE(run_until_said(spoiled, HoldState::held));
    ASSERT_TRUE(run_until_said(other, HoldState::held));
    introduce(spoiled);
    ASSERT_TRUE(run_until_said(spoiled, HoldState::withdrawn));
    EXPECT_THAT(tracker.holding(spoiled.id)->trouble, AllOf(HasSubstr("weights.bin"), HasSubstr(blob), HasSubstr("expected digest"), HasSubstr("found")));
    EXPECT_THAT(metrics->text(), HasSubstr("shoal_pieces_failed_total 1"));
    introduce(other);
    EXPECT_TRUE(run_until(loop, [&] { return received(other); }));
    EXPECT_FALSE(received(spoiled));
    EXPECT_TRUE(memory->piece(8) == std::string(spoiled.layout().place({8}).length, '\0'));  // no byte of the wrong piece went out
    EXPECT_TRUE(tracker.said(spoiled.id, HoldState::withdrawn));
}

TEST_F(ServingSeeder, ASpoiledRevisionThatIsThenRemovedStaysWithdrawn)
{
    start();
    const Placed spoiled = shelf.place("llama", files);
    Shelf::flip(shelf.object(objectstore::blob_key(spoiled.layout().files()[1].pieces_root)), 2'000'000);
    const auto memory = want(spoiled);
    ASSERT_TRUE(run_until_said(spoiled, HoldState::held));
    introduce(spoiled);
    ASSERT_TRUE(run_until_said(spoiled, HoldState::withdrawn));
    ASSERT_TRUE(std::filesystem::remove(shelf.object(objectstore::layers_key(spoiled.id))));
    const int manifest_and_layers = store->gets + 2;
    ASSERT_TRUE(run_until(loop, [&] { return store->gets >= manifest_and_layers; }));
    EXPECT_TRUE(tracker.said(spoiled.id, HoldState::withdrawn));
}

TEST_F(ServingSeeder, ARevisionThatIsRemovedFromTheStoreIsWithdrawnAndNoOther)
{
    start();
    const Placed placed = shelf.place("llama", files);
    const Placed other = shelf.place("mistral", {{"weights.bin", noise(500'000, 7)}});
    want(placed);
    want(other);
    ASSERT_TRUE(run_until_said(placed, HoldState::held));
    ASSERT_TRUE(run_until_said(other, HoldState::held));
    ASSERT_TRUE(std::filesystem::remove(shelf.object(objectstore::manifest_key(placed.id))));
    ASSERT_TRUE(run_until_said(placed, HoldState::withdrawn));
    EXPECT_THAT(tracker.holding(placed.id)->trouble, HasSubstr("revision was removed from the store: llama@" + to_string(placed.id)));
    EXPECT_EQ(tracker.holding(placed.id)->bytes_have, 0U);
    EXPECT_TRUE(tracker.said(other.id, HoldState::held));
}

class WatchingRemovals : public testing::Test {
protected:
    WatchingRemovals()
    {
        watch.start([this] { return served; }, [this](const RevisionId& revision, const Error& /*cause*/) { removed.insert(revision); });
    }
    bool looked()
    {
        return run_until(loop, [&, before = store->heads.load()] { return store->heads >= before + 3; });
    }

    Shelf shelf;
    net::Loop loop;
    net::Workers workers{loop, 1};
    std::shared_ptr<WatchedStore> store = std::make_shared<WatchedStore>(objectstore::open_store(shelf.url()).value());
    RemovalWatch watch{loop, workers, store, 1ms};
    std::vector<RevisionId> served{shelf.place("llama", files).id};
    std::set<RevisionId> removed;
};

TEST_F(WatchingRemovals, TellsOfWhatTheStoreLacksAndOfNothingElse)
{
    ASSERT_TRUE(looked());
    EXPECT_THAT(removed, testing::IsEmpty());
    served.push_back(RevisionId{{7}});
    EXPECT_TRUE(run_until(loop, [&] { return !removed.empty(); }));
    EXPECT_THAT(removed, testing::ElementsAre(RevisionId{{7}}));
}

TEST_F(WatchingRemovals, AStoreThatIsAwayLacksNothing)
{
    std::filesystem::rename(shelf.object(""), shelf.object("") / ".." / "away");
    ASSERT_TRUE(looked());
    EXPECT_THAT(removed, testing::IsEmpty());
}

TEST_F(ServingSeeder, AStoreThatFailsForATimeDelaysAndDoesNotHarm)
{
    start();
    const Placed placed = shelf.place("llama", files);
    const auto memory = want(placed);
    ASSERT_TRUE(run_until_said(placed, HoldState::held));
    store->fail_next(std::vector<Error>(6, {Errc::io, "reading: the disk: Input/output error", {}}));
    introduce(placed);
    ASSERT_TRUE(run_until(loop, [&] { return received(placed); }));
    for (std::uint32_t piece = 0; piece < placed.layout().pieces(); ++piece) EXPECT_TRUE(memory->piece(piece) == placed.piece({piece}, files)) << piece;
}

TEST_F(ServingSeeder, SaysThatTheStoreLacksARevision)
{
    start();
    const RevisionId unknown{{7}};
    tracker.wanted.insert(unknown);
    ASSERT_TRUE(run_until(loop, [&] { return tracker.said(unknown, HoldState::withdrawn); }));
    EXPECT_THAT(tracker.holding(unknown)->trouble, AllOf(HasSubstr(to_hex(unknown)), HasSubstr("not found")));
}

TEST_F(ServingSeeder, SaysThatLayersAreDamaged)
{
    start();
    const Placed placed = shelf.place("llama", files);
    Shelf::flip(shelf.object(objectstore::layers_key(placed.id)), 40);
    tracker.wanted.insert(placed.id);
    ASSERT_TRUE(run_until_said(placed, HoldState::withdrawn));
    EXPECT_THAT(tracker.holding(placed.id)->trouble, HasSubstr(objectstore::layers_key(placed.id)));
}

TEST_F(ServingSeeder, ARevisionOfEmptyFilesIsHeldAtOnce)
{
    start();
    const Placed placed = shelf.place("llama", {{"empty", ""}});
    tracker.wanted.insert(placed.id);
    EXPECT_TRUE(run_until_said(placed, HoldState::held));
}

TEST_F(ServingSeeder, LeavesWithAGoodbye)
{
    start();
    bool gone = false;
    seeder->leave([&gone] { gone = true; });
    EXPECT_TRUE(run_until(
        loop, [&] { return gone; }, 3s));
    EXPECT_TRUE(tracker.left);
}

TEST(ServingSeederOptions, RefuseAnAddressToAdvertiseThatIsNone)
{
    Shelf shelf;
    net::Loop loop;
    for (const char* text : {":6881", "[::1]x", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:70000", "[]"}) {
        ServeOptions options;
        options.trackers = {"http://127.0.0.1:1"};
        options.listen = {"127.0.0.1:0"};
        options.advertise = text;
        const auto opened = Seeder::open(loop, options, objectstore::open_store(shelf.url()).value(), std::make_shared<obs::Metrics>("test"));
        ASSERT_FALSE(opened) << text;
        EXPECT_EQ(opened.error().code, Errc::invalid);
        EXPECT_THAT(opened.error().message, AllOf(HasSubstr("--advertise"), HasSubstr(text)));
    }
}

}  // namespace
}  // namespace shoal::seeder
