// Who takes part: members, and strangers only where they are let in.
#include "common/model/torrent.hpp"
#include "tests/swarm/nodes.hpp"

#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/session_params.hpp>
#include <libtorrent/settings_pack.hpp>
#include <libtorrent/torrent_info.hpp>
#include <libtorrent/torrent_status.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace shoal::swarm {
namespace {

const Content& small()
{
    static const Content content = make_content({1'500'000, 1000, 300'000});
    return content;
}

// A plain BitTorrent v2 client.
class Stranger {
public:
    Stranger()
    {
        std::string name = (std::filesystem::temp_directory_path() / "stranger-XXXXXX").string();
        directory_ = mkdtemp(name.data());
        lt::settings_pack settings;
        settings.set_str(lt::settings_pack::listen_interfaces, "127.0.0.1:0");
        for (const int off : {lt::settings_pack::enable_dht, lt::settings_pack::enable_lsd, lt::settings_pack::enable_upnp, lt::settings_pack::enable_natpmp})
            settings.set_bool(off, false);
        settings.set_int(lt::settings_pack::alert_mask,
            static_cast<int>(static_cast<std::uint32_t>(lt::alert_category::status | lt::alert_category::connect | lt::alert_category::error)));
        session_ = std::make_unique<lt::session>(lt::session_params{settings});
        const std::string file = model::torrent_file(*small().layout, *small().layers, small().revision);
        lt::add_torrent_params params;
        params.ti = std::make_shared<lt::torrent_info>(lt::span<const char>{file.data(), static_cast<std::ptrdiff_t>(file.size())}, lt::from_span);
        params.save_path = directory_.string();
        params.flags &= ~(lt::torrent_flags::auto_managed | lt::torrent_flags::paused);
        handle_ = session_->add_torrent(std::move(params));
    }
    ~Stranger()
    {
        session_.reset();
        std::filesystem::remove_all(directory_);
    }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;

    void dial(const Node& node) { handle_.connect_peer({lt::make_address("127.0.0.1"), node.session->port()}); }
    bool hears_of_a_hang_up()
    {
        return hears([](const lt::alert& alert) { return lt::alert_cast<lt::peer_disconnected_alert>(&alert) != nullptr; });
    }
    bool completes()
    {
        return hears([](const lt::alert& alert) { return lt::alert_cast<lt::torrent_finished_alert>(&alert) != nullptr; });
    }
    [[nodiscard]] std::int64_t received() const { return handle_.status().total_payload_download; }
    [[nodiscard]] std::string content(const std::string& path) const
    {
        std::ifstream file{directory_ / to_hex(small().revision) / path, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    bool hears(const std::function<bool(const lt::alert&)>& what)
    {
        const TimePoint deadline = Clock::now() + 15s;
        while (Clock::now() < deadline) {
            session_->wait_for_alert(100ms);
            std::vector<lt::alert*> alerts;
            session_->pop_alerts(&alerts);
            for (const lt::alert* alert : alerts)
                if (what(*alert)) return true;
        }
        return false;
    }
    std::filesystem::path directory_;
    std::unique_ptr<lt::session> session_;
    lt::torrent_handle handle_;
};

TEST_F(Swarm, C31_AStrangerGetsNoByteAndNobodySuffers)
{
    Node& from = seeder(small());
    Node& to = peer(small());
    Stranger stranger;
    stranger.dial(from);
    introduce(small().revision, to, {&from});
    ASSERT_TRUE(until([&] { return to.complete(); }));
    Stranger another;
    another.dial(to);
    EXPECT_TRUE(stranger.hears_of_a_hang_up());
    EXPECT_TRUE(another.hears_of_a_hang_up());
    EXPECT_EQ(stranger.received(), 0);
    EXPECT_EQ(another.received(), 0);
    EXPECT_EQ(from.stats(small()).sent, small().bytes());
    EXPECT_EQ(to.stats(small()).sent, 0U);
}

TEST_F(Swarm, C31_AStrangerGetsAllWhereStrangersAreLetIn)
{
    Node& from = seeder(small());
    from.session->let_in(Strangers::let_in);
    Stranger stranger;
    stranger.dial(from);
    ASSERT_TRUE(stranger.completes());
    std::size_t piece = 0;
    for (const model::SwarmFile& file : small().layout->files()) {
        std::string expected;
        for (std::uint32_t i = 0; i < file.pieces; ++i) expected += small().pieces[piece++];
        EXPECT_TRUE(stranger.content(file.path) == expected) << file.path;
    }
}

TEST_F(Swarm, WhoShowsAnotherKeyThanTheTrackerToldIsKeptOut)
{
    Node& from = seeder(small());
    Node& to = peer(small());
    Member impostor = to.member(false);
    impostor.key = random_id<MemberKey>();
    from.session->set_members(small().revision, {impostor});
    to.session->set_members(small().revision, {from.member()});
    EXPECT_FALSE(until([&] { return to.count<PieceVerified>() > 0; }, 3s));
    EXPECT_EQ(from.stats(small()).sent, 0U);
    from.session->set_members(small().revision, {to.member(false)});
    EXPECT_TRUE(until([&] { return to.complete(); }));
}

// One tracker's reply is sooner than the other's: who is dialled waits for word, and the dialler is served at once when it comes.
TEST_F(Swarm, WhoDialsBeforeTheOtherHasHeardOfItIsServedWhenItHas)
{
    Node& from = node();
    from.add(small(), MemoryStorage::Holds::all);
    Node& to = peer(small());
    from.session->set_members(small().revision, {});
    to.session->set_members(small().revision, {from.member()});
    ASSERT_TRUE(until([&] { return to.stats(small()).connections == 1; }));
    EXPECT_EQ(from.stats(small()).connections, 0);
    from.session->set_members(small().revision, {to.member(false)});
    const TimePoint told = Clock::now();
    ASSERT_TRUE(until([&] { return to.complete(); }));
    EXPECT_LT(Clock::now() - told, 5s);  // by far less than it takes to time out and dial again
    EXPECT_EQ(to.stats(small()).received.size(), 1U);
}

TEST_F(Swarm, WhoIsHeardOfLateIsHeardOutAgain)
{
    Node& from = peer(small());  // holds nothing, waits for word of the one that dials it
    Node& to = node();
    to.add(small(), MemoryStorage::Holds::all);
    from.session->set_members(small().revision, {});
    to.session->set_members(small().revision, {from.member()});
    ASSERT_TRUE(until([&] { return to.stats(small()).connections == 1; }));
    EXPECT_EQ(from.count<PieceVerified>(), 0U);
    from.session->set_members(small().revision, {to.member(false)});
    EXPECT_TRUE(until([&] { return from.complete(); }));  // what the dialler has was told while it was unknown
    EXPECT_TRUE(from.storage->complete());
}

TEST_F(Swarm, WhoIsNoMemberAnyMoreIsHungUpOnButNotByAnEmptyList)
{
    Node& from = seeder(small());
    Node& first = peer(small());
    Node& second = peer(small());
    introduce(small().revision, from, {&first, &second});
    ASSERT_TRUE(until([&] { return from.stats(small()).connections == 2; }));
    from.session->set_members(small().revision, {});
    first.session->set_members(small().revision, {});
    ASSERT_TRUE(until([&] { return first.complete() && second.complete(); }));
    EXPECT_EQ(from.stats(small()).connections, 2);
    from.session->set_members(small().revision, {first.member(false)});
    EXPECT_TRUE(until([&] { return from.stats(small()).connections == 1 && second.stats(small()).connections == 0; }));
}

TEST_F(Swarm, ANewMemberIsDialledWithinASecondOrTwo)
{
    Node& from = seeder(small());
    Node& to = peer(small());
    to.session->set_members(small().revision, {});
    from.session->set_members(small().revision, {to.member(false)});
    EXPECT_FALSE(until([&] { return to.stats(small()).connections > 0; }, 1200ms));
    to.session->set_members(small().revision, {from.member()});
    EXPECT_TRUE(until([&] { return to.complete(); }, 5s));
}

TEST_F(Swarm, C23_AnEndpointThatBelongsToAnotherNowIsNotTakenForTheOldOne)
{
    Node& other = seeder(small());
    Node& to = peer(small());
    Member gone = other.member();
    gone.peer = random_id<PeerId>();
    other.session->set_members(small().revision, {to.member(false)});
    to.session->set_members(small().revision, {gone});
    EXPECT_FALSE(until([&] { return to.count<PieceVerified>() > 0; }, 3s));
    EXPECT_EQ(to.stats(small()).connections, 0);
    to.session->set_members(small().revision, {other.member()});
    EXPECT_TRUE(until([&] { return to.complete(); }, 10s));
}

}  // namespace
}  // namespace shoal::swarm
