// A torrent's neighbours with libtorrent around them.
#include "common/model/torrent.hpp"
#include "common/swarm/neighbours.hpp"
#include "common/swarm/network_thread.hpp"
#include "tests/swarm/content.hpp"

#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/disabled_disk_io.hpp>
#include <libtorrent/peer_info.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/session_params.hpp>
#include <libtorrent/torrent_flags.hpp>
#include <libtorrent/torrent_info.hpp>

#include <gtest/gtest.h>

#include <future>

namespace shoal::swarm {
namespace {

const Content& content()
{
    static const Content one = make_content({1'000'000});
    return one;
}

class Dialling : public testing::Test {
protected:
    Dialling()
    {
        lt::session_params params;
        params.settings.set_str(lt::settings_pack::listen_interfaces, "127.0.0.1:0");
        for (const int off : {lt::settings_pack::enable_dht, lt::settings_pack::enable_lsd, lt::settings_pack::enable_upnp, lt::settings_pack::enable_natpmp})
            params.settings.set_bool(off, false);
        params.settings.set_int(lt::settings_pack::alert_mask, static_cast<int>(static_cast<std::uint32_t>(lt::alert_category::status)));
        params.disk_io_constructor = [this](lt::io_context& context, const lt::settings_interface& settings, lt::counters& counters) {
            network = std::make_shared<NetworkThread>(context);
            return lt::disabled_disk_io_constructor(context, settings, counters);
        };
        session = std::make_unique<lt::session>(std::move(params));
    }
    ~Dialling() override { network->close(); }

    void add()
    {
        const std::string file = model::torrent_file(*content().layout, *content().layers, content().revision);
        lt::add_torrent_params params;
        params.ti = std::make_shared<lt::torrent_info>(lt::span<const char>{file.data(), static_cast<std::ptrdiff_t>(file.size())}, lt::from_span);
        params.save_path = ".";
        params.flags = lt::torrent_flags::paused;
        params.extensions.push_back([this](const lt::torrent_handle& made, lt::client_data_t) {
            neighbours->set_handle(made);
            return neighbours;
        });
        handle = session->add_torrent(std::move(params));
    }
    // libtorrent is through with its checks, and so much has been told that the torrent runs.
    bool running()
    {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (std::chrono::steady_clock::now() < deadline) {
            session->wait_for_alert(std::chrono::seconds{1});
            std::vector<lt::alert*> alerts;
            session->pop_alerts(&alerts);
            for (const lt::alert* alert : alerts)
                if (lt::alert_cast<lt::torrent_resumed_alert>(alert) != nullptr) return true;
        }
        return false;
    }
    template <typename Work>
    auto on_network_thread(Work work)
    {
        std::promise<decltype(work())> promise;
        network->post([&] { promise.set_value(work()); });
        return promise.get_future().get();
    }

    std::shared_ptr<NetworkThread> network;
    Outbox outbox{{}};
    std::shared_ptr<Neighbours> neighbours = std::make_shared<Neighbours>(Self{}, content().revision, content().layout,
        Availability{std::vector<bool>(content().pieces.size()), std::vector<bool>(content().pieces.size(), true)}, outbox, nullptr);
    lt::torrent_handle handle;
    std::unique_ptr<lt::session> session;  // last: ends first
};

TEST_F(Dialling, WhoIsToldIsDialledWithinTheCallAndNotAtTheNextSecond)
{
    add();
    on_network_thread([this] { return neighbours->set_members({}), 0; });
    ASSERT_TRUE(running());
    const Member member{random_id<PeerId>(), random_id<MemberKey>(), false, true, {"127.0.0.1:9"}};  // nobody has to be there
    const std::size_t dialled = on_network_thread([&] {
        neighbours->set_members({member});
        std::vector<lt::peer_info> peers;
        handle.get_peer_info(peers);
        return peers.size();
    });
    EXPECT_EQ(dialled, 1U);
    EXPECT_FALSE(handle.flags() & lt::torrent_flags::paused);
}

}  // namespace
}  // namespace shoal::swarm
