#include "common/swarm/session_settings.hpp"

#include "common/crypto/block_tree.hpp"
#include "common/swarm/session.hpp"

#include <libtorrent/alert.hpp>
#include <libtorrent/settings_pack.hpp>

#include <algorithm>
#include <limits>

namespace shoal::swarm {
namespace {

using Settings = lt::settings_pack;

constexpr std::size_t receive_budget = std::size_t{16} << 20U;  // of all connections
constexpr std::size_t least_receive = std::size_t{256} << 10U;
constexpr std::size_t most_receive = std::size_t{4} << 20U;  // a lone source over a long path: 1 Gbit/s x 40 ms

int limit(std::uint64_t bytes_per_second)
{
    return static_cast<int>(std::min<std::uint64_t>(bytes_per_second, std::numeric_limits<int>::max()));
}

std::string joined(const std::vector<std::string>& endpoints)
{
    std::string text;
    for (const std::string& endpoint : endpoints) text += (text.empty() ? "" : ",") + endpoint;
    return text;
}

void set_network(Settings& settings, const SessionOptions& options)
{
    // uTP alone costs nine tenths of the speed on loopback; the rest finds strangers, or talks to routers.
    for (const int off : {Settings::enable_outgoing_utp, Settings::enable_incoming_utp, Settings::enable_dht, Settings::enable_lsd, Settings::enable_upnp,
             Settings::enable_natpmp, Settings::smooth_connects, Settings::rate_limit_ip_overhead, Settings::close_redundant_connections,
             Settings::announce_to_all_trackers, Settings::announce_to_all_tiers, Settings::enable_ip_notifier})
        settings.set_bool(off, false);
    settings.set_str(Settings::listen_interfaces, joined(options.listen));
    settings.set_bool(Settings::listen_system_port_fallback, options.any_port_if_taken);
    settings.set_int(Settings::max_retry_port_bind, 0);
    settings.set_int(Settings::listen_queue_size, 256);
    settings.set_bool(Settings::allow_multiple_connections_per_ip, true);  // several peers on a node
    settings.set_int(Settings::in_enc_policy, Settings::pe_disabled);
    settings.set_int(Settings::out_enc_policy, Settings::pe_disabled);
    settings.set_int(Settings::download_rate_limit, limit(options.download_limit));
    settings.set_int(Settings::upload_rate_limit, limit(options.upload_limit));
    settings.set_str(Settings::user_agent, std::string{"shoal/"} + SHOAL_VERSION);
    settings.set_int(Settings::alert_mask, static_cast<int>(static_cast<std::uint32_t>(lt::alert_category::error | lt::alert_category::status)));
}

void set_connections(Settings& settings)
{
    settings.set_int(Settings::connection_speed, 1000);
    settings.set_int(Settings::torrent_connect_boost, 255);
    settings.set_int(
        Settings::tick_interval, 100);  // ms: a connection under a rate limit reads nothing before the next tick, and limits hold as smoothly as it ticks
    settings.set_int(Settings::connections_limit, 2000);
    settings.set_int(Settings::max_peerlist_size, 4000);
    settings.set_int(Settings::min_reconnect_time, 1);
    settings.set_int(Settings::max_failcount, 31);
    // A silent source is replaced within 10 s (Neighbour::watch_silence()), one that does not answer at all sooner.
    settings.set_int(Settings::peer_connect_timeout, 4);
    settings.set_int(Settings::handshake_timeout, 5);
    settings.set_int(Settings::peer_timeout, 150);  // stock clients say every two minutes that they live; who is silent while asked is replaced sooner
    settings.set_int(Settings::request_timeout, 8);
    settings.set_int(Settings::piece_timeout, 8);
    settings.set_int(Settings::stop_tracker_timeout, 0);
}

void set_exchange(Settings& settings)
{
    settings.set_int(Settings::unchoke_slots_limit, -1);
    settings.set_int(Settings::initial_picker_threshold, 0);  // rarest first from the first piece on
    settings.set_int(Settings::request_queue_time, 1);
    settings.set_int(Settings::max_allowed_in_request_queue, 4000);
    settings.set_int(Settings::send_buffer_watermark, 1 << 20);
    settings.set_int(Settings::send_buffer_low_watermark, 256 << 10);
    settings.set_int(Settings::max_queued_disk_bytes, std::numeric_limits<int>::max());  // a warning only; the disk backend bounds what waits
    settings.set_int(Settings::suggest_mode, Settings::no_piece_suggestions);
    settings.set_int(Settings::allowed_fast_set_size, 0);
}

}  // namespace

lt::settings_pack cluster_settings(const SessionOptions& options)
{
    Settings settings = receive_settings(receive_share(0));
    set_network(settings, options);
    set_connections(settings);
    set_exchange(settings);
    return settings;
}

ReceiveShare receive_share(std::size_t neighbours)
{
    const std::size_t bytes = std::clamp(receive_budget / std::max<std::size_t>(neighbours, 1), least_receive, most_receive);
    return {static_cast<int>(bytes), static_cast<int>(std::max<std::size_t>(256, 4 * bytes / crypto::block_size))};
}

lt::settings_pack receive_settings(const ReceiveShare& share)
{
    Settings settings;
    settings.set_int(Settings::recv_socket_buffer_size, share.bytes);
    settings.set_int(Settings::max_peer_recv_buffer_size, share.bytes);
    settings.set_int(Settings::max_out_request_queue, share.requests);
    return settings;
}

}  // namespace shoal::swarm
