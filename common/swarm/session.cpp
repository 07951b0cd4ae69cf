#include "common/swarm/session.hpp"

#include "common/swarm/endpoint.hpp"
#include "common/swarm/index.hpp"
#include "common/swarm/neighbours.hpp"
#include "common/swarm/outbox.hpp"
#include "common/swarm/piece_disk.hpp"
#include "common/swarm/run_disk.hpp"
#include "common/swarm/session_settings.hpp"

#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/alert_types.hpp>
#include <libtorrent/ip_filter.hpp>
#include <libtorrent/session.hpp>
#include <libtorrent/session_params.hpp>
#include <libtorrent/settings_pack.hpp>
#include <libtorrent/torrent_flags.hpp>
#include <libtorrent/torrent_info.hpp>

#include <algorithm>
#include <future>
#include <new>
#include <unordered_map>
#include <utility>

namespace shoal::swarm {
namespace {

constexpr unsigned disk_threads = 4;  // reads of a store block
constexpr std::chrono::milliseconds answer_within{500};

// libtorrent makes save paths absolute.
Result<RevisionId> revision_at(const std::string& save_path)
{
    return id_from_hex<RevisionId>(save_path.substr(save_path.rfind('/') + 1));
}

// Private addresses escape the global limits unless they are put under them.
void limit_every_address(lt::session& session)
{
    lt::ip_filter filter;
    const auto global = 1U << static_cast<std::uint32_t>(lt::session::global_peer_class_id);
    filter.add_rule(lt::make_address("0.0.0.0"), lt::make_address("255.255.255.255"), global);
    filter.add_rule(lt::make_address("::"), lt::make_address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), global);
    session.set_peer_class_filter(filter);
}

Error listen_error(const std::string& endpoint, const lt::error_code& cause)
{
    Error error = system_error(cause.value(), "cannot listen", endpoint);
    error.hint = "choose another address or port with --listen";
    return error;
}

std::string endpoint_of(const lt::listen_failed_alert& failed)
{
    return text_of(lt::tcp::endpoint{failed.address, static_cast<std::uint16_t>(failed.port)});
}

// The first address that could not be bound, of what libtorrent has to tell.
std::optional<Error> why_deaf(lt::session& session)
{
    std::vector<lt::alert*> alerts;
    session.pop_alerts(&alerts);
    for (const lt::alert* alert : alerts) {
        const auto* failed = lt::alert_cast<lt::listen_failed_alert>(alert);
        if (failed != nullptr && failed->socket_type == lt::socket_type_t::tcp) return listen_error(endpoint_of(*failed), failed->error);
    }
    return std::nullopt;
}

Result<std::shared_ptr<lt::torrent_info>> derive(const Torrent& torrent)
{
    const std::string file = model::torrent_file(*torrent.layout, *torrent.layers, torrent.revision, torrent.swarm_key);
    lt::load_torrent_limits limits;
    limits.max_buffer_size = 256 << 20;  // our own making: bounded by the manifest's limits
    limits.max_pieces = 1 << 21;
    limits.max_decode_tokens = 16'000'000;
    try {
        auto info = std::make_shared<lt::torrent_info>(lt::span<const char>{file.data(), static_cast<std::ptrdiff_t>(file.size())}, limits, lt::from_span);
        if (static_cast<std::uint32_t>(info->num_pieces()) == torrent.layout->pieces()) return info;
        return failure(Errc::internal, "deriving a torrent: " + to_string(torrent.revision) + ": expected " + std::to_string(torrent.layout->pieces()) +
                                           " pieces, found " + std::to_string(info->num_pieces()));
    } catch (const boost::system::system_error& error) {
        return failure(Errc::internal, "deriving a torrent: " + to_string(torrent.revision) + ": " + error.what());
    }
}

}  // namespace

struct Session::Impl final : DiskSink, lt::plugin {
    // A torrent as the network thread knows it.
    struct Entry {
        std::shared_ptr<const DiskContent> content;
        std::shared_ptr<Neighbours> neighbours;
        [[nodiscard]] const lt::torrent_handle& handle() const { return neighbours->handle(); }
    };

    explicit Impl(SessionOptions with) : options{std::move(with)}, outbox{options.notify}
    {
        if (options.kind == Kind::seeder) uplink = std::make_shared<SharedUplink>();
    }
    ~Impl() override;

    Result<void> open();
    std::unique_ptr<lt::disk_interface> make_disk(lt::io_context& context);
    Result<void> heard_of_listening();
    void hear();  // libtorrent's alerts; network thread
    void stopped(const lt::torrent_error_alert& by);
    std::shared_ptr<Neighbours> make_neighbours(const Torrent& torrent);
    static lt::add_torrent_params params(const Torrent& torrent, std::shared_ptr<lt::torrent_info> info);
    void share_receive_budget();

    // DiskSink; network thread
    std::shared_ptr<const DiskContent> content(const std::string& save_path) override;
    void storage_failed(const RevisionId& revision, const Error& error) override;
    void block_taken(const RevisionId& revision, PieceIndex piece, std::uint32_t block) override;
    void piece_judged(const RevisionId& revision, PieceIndex piece, bool right, std::span<const Digest> leaves) override;
    void piece_reopened(const RevisionId& revision) override;
    void begin_trust() override { trust(true); }
    void end_trust() override { trust(false); }
    void trust(bool yes);

    // lt::plugin; network thread
    lt::feature_flags_t implemented_features() override { return lt::plugin::tick_feature; }
    void on_tick() override;

    // Runs `work` on the network thread and waits for what it returns; nothing when that takes too long.
    template <typename Work>
    auto ask(Work work) -> std::optional<decltype(work())>;

    SessionOptions options;
    Outbox outbox;
    std::shared_ptr<NetworkThread> network;
    std::shared_ptr<SharedUplink> uplink;               // a seeder's; network thread
    Disk* disk = nullptr;                               // libtorrent's; network thread
    std::unordered_map<RevisionId, Entry> torrents;     // network thread
    Strangers strangers = Strangers::kept_out;          // owner
    std::unordered_map<RevisionId, std::size_t> known;  // owner: how many members each torrent has
    ReceiveShare share = receive_share(0);              // owner
    std::uint16_t port = 0;
    lt::session_handle handle;
    std::unique_ptr<lt::session> session;  // last: it ends before what it uses
};

template <typename Work>
auto Session::Impl::ask(Work work) -> std::optional<decltype(work())>
{
    using Answer = decltype(work());
    const auto promise = std::make_shared<std::promise<Answer>>();
    auto answer = promise->get_future();
    network->post([promise, work = std::move(work)]() mutable { promise->set_value(work()); });
    if (answer.wait_for(answer_within) != std::future_status::ready) return std::nullopt;
    return answer.get();
}

Session::Impl::~Impl()
{
    outbox.close();
    if (!session) return;
    // What waits for the disk keeps connections alive, and those keep libtorrent from ending.
    network->post([this] { disk->close_all(); });
    session.reset();
}

Result<void> Session::Impl::open()
{
    for (const std::string& endpoint : options.listen)
        if (!parse_endpoint(endpoint))
            return failure(Errc::invalid, "cannot listen: '" + endpoint + "': expected an address and a port, as in 0.0.0.0:6881 or [::]:6881");
    try {
        lt::session_params with{cluster_settings(options), std::vector<std::shared_ptr<lt::plugin>>{}};
        with.disk_io_constructor = [this](lt::io_context& context, const lt::settings_interface&, lt::counters&) { return make_disk(context); };
        session = std::make_unique<lt::session>(std::move(with));
    } catch (const boost::system::system_error& error) {
        return failure(Errc::internal, std::string{"starting the swarm: "} + error.what());
    } catch (const std::bad_alloc&) {
        return failure(Errc::internal, "starting the swarm: no memory for buffers of " + std::to_string(options.buffer_bytes) + " bytes");
    }
    handle = lt::session_handle{*session};
    session->add_extension(std::shared_ptr<lt::plugin>{std::shared_ptr<void>{}, this});  // not owned: the session ends first
    limit_every_address(*session);
    return heard_of_listening();
}

std::unique_ptr<lt::disk_interface> Session::Impl::make_disk(lt::io_context& context)
{
    network = std::make_shared<NetworkThread>(context);
    std::unique_ptr<Disk> made;
    if (options.kind == Kind::seeder)
        made = std::make_unique<PieceDisk>(network, *this, options.buffer_bytes, disk_threads);
    else
        made = std::make_unique<RunDisk>(network, *this, options.buffer_bytes, disk_threads);
    disk = made.get();
    return made;
}

Result<void> Session::Impl::heard_of_listening()
{
    port = session->listen_port();  // answers when all listen sockets have been tried
    if (port == 0) return failure(why_deaf(*session).value_or(Error{Errc::io, "cannot listen: " + options.listen.front() + ": no socket could be bound", {}}));
    session->set_alert_notify([this] { network->post([this] { hear(); }); });  // what there is already is told at once
    return success();
}

void Session::Impl::hear()
{
    std::vector<lt::alert*> alerts;
    handle.pop_alerts(&alerts);
    for (const lt::alert* alert : alerts) {
        const auto* failed = lt::alert_cast<lt::listen_failed_alert>(alert);
        if (failed != nullptr && failed->socket_type == lt::socket_type_t::tcp) outbox.push(ListenFailed{endpoint_of(*failed), failed->error.message()});
        if (const auto* broken = lt::alert_cast<lt::torrent_error_alert>(alert)) stopped(*broken);
    }
}

// By an error of its own: libtorrent has paused the torrent.
void Session::Impl::stopped(const lt::torrent_error_alert& by)
{
    const auto at = std::find_if(torrents.begin(), torrents.end(), [&](const auto& entry) { return entry.second.handle() == by.handle; });
    if (at == torrents.end()) return;
    const std::string cause = by.error ? by.error.message() : by.filename();  // "exception": one that bears no error code
    outbox.push(StorageFailed{at->first, {Errc::internal, "swarming: " + to_string(at->first) + ": " + cause, {}}});
}

void Session::Impl::share_receive_budget()
{
    std::size_t neighbours = 0;
    for (const auto& [revision, members] : known) neighbours += members;
    if (const ReceiveShare fresh = receive_share(neighbours); fresh != std::exchange(share, fresh)) session->apply_settings(receive_settings(fresh));
}

std::shared_ptr<const DiskContent> Session::Impl::content(const std::string& save_path)
{
    const auto revision = revision_at(save_path);
    const auto at = revision ? torrents.find(revision.value()) : torrents.end();
    return at == torrents.end() ? nullptr : at->second.content;
}

void Session::Impl::storage_failed(const RevisionId& revision, const Error& error)
{
    outbox.push(StorageFailed{revision, error});
    if (const auto at = torrents.find(revision); at != torrents.end()) at->second.handle().pause();
}

void Session::Impl::block_taken(const RevisionId& revision, PieceIndex piece, std::uint32_t block)
{
    if (const auto at = torrents.find(revision); at != torrents.end()) at->second.neighbours->block_taken(piece, block);
}

void Session::Impl::piece_judged(const RevisionId& revision, PieceIndex piece, bool right, std::span<const Digest> leaves)
{
    if (const auto at = torrents.find(revision); at != torrents.end()) at->second.neighbours->piece_judged(piece, right, leaves);
}

void Session::Impl::piece_reopened(const RevisionId& revision)
{
    if (const auto at = torrents.find(revision); at != torrents.end()) at->second.neighbours->ask_again();
}

// libtorrent would hash a piece's blocks into a tree that it keeps, 64 bytes a block: 1 GiB for a model of 140 GB. We have judged the piece, and the call
// that tells it so runs between these two settings; on its own thread they take effect at once.
void Session::Impl::trust(bool yes)
{
    lt::settings_pack settings;
    settings.set_bool(lt::settings_pack::disable_hash_checks, yes);
    handle.apply_settings(std::move(settings));
}

void Session::Impl::on_tick()
{
    if (uplink)
        uplink->torrents = static_cast<std::size_t>(std::count_if(torrents.begin(), torrents.end(), [](const auto& entry) {
            const Showing* const showing = entry.second.neighbours->showing();
            return showing != nullptr && showing->has_demand();
        }));
    for (const auto& [revision, entry] : torrents) entry.neighbours->second();
    disk->tick(Clock::now());
}

std::shared_ptr<Neighbours> Session::Impl::make_neighbours(const Torrent& torrent)
{
    const Self self{{options.peer, options.key, options.kind, true}, strangers, uplink};
    const std::size_t pieces = torrent.layout->pieces();
    Availability availability{torrent.have, torrent.want.empty() ? std::vector<bool>(pieces, true) : torrent.want};
    auto expect = [this, revision = torrent.revision](PieceIndex piece) { disk->expect(revision, piece); };
    return std::make_shared<Neighbours>(self, torrent.revision, torrent.layout, std::move(availability), outbox, std::move(expect));
}

lt::add_torrent_params Session::Impl::params(const Torrent& torrent, std::shared_ptr<lt::torrent_info> info)
{
    lt::add_torrent_params params;
    params.ti = std::move(info);
    params.save_path = to_hex(torrent.revision);  // under which the disk backend asks for its content
    params.flags = lt::torrent_flags::paused | lt::torrent_flags::duplicate_is_error | lt::torrent_flags::disable_dht | lt::torrent_flags::disable_lsd |
                   lt::torrent_flags::disable_pex;
    params.have_pieces.resize(static_cast<int>(torrent.have.size()));
    for (std::size_t piece = 0; piece < torrent.have.size(); ++piece)
        if (torrent.have[piece]) params.have_pieces.set_bit(piece_index(static_cast<std::uint32_t>(piece)));
    params.verified_pieces = params.have_pieces;
    for (const bool want : torrent.want) params.piece_priorities.push_back(want ? lt::default_priority : lt::dont_download);
    return params;
}

Session::Session(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}

Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(SessionOptions options)
{
    auto impl = std::make_unique<Impl>(std::move(options));
    BOOST_OUTCOME_TRY(impl->open());
    return std::unique_ptr<Session>{new Session{std::move(impl)}};
}

std::uint16_t Session::port() const
{
    return impl_->port;
}

Result<void> Session::add(Torrent torrent)
{
    if (impl_->known.contains(torrent.revision)) return failure(Errc::exists, "joining a swarm: " + to_string(torrent.revision) + ": it is joined already");
    const std::size_t pieces = torrent.layout->pieces();
    if (pieces == 0 || torrent.layers->size() != pieces || torrent.have.size() != pieces || (!torrent.want.empty() && torrent.want.size() != pieces))
        return failure(Errc::internal, "joining a swarm: " + to_string(torrent.revision) + ": layout, layers, have and want are not of the same pieces");
    BOOST_OUTCOME_TRY(info, derive(torrent));
    auto content = std::make_shared<const DiskContent>(DiskContent{torrent.revision, torrent.layout, torrent.layers, torrent.storage, torrent.have});
    const auto neighbours = impl_->make_neighbours(torrent);
    lt::add_torrent_params params = Impl::params(torrent, std::move(info));
    params.extensions.push_back([neighbours](const lt::torrent_handle& handle, lt::client_data_t) {
        neighbours->set_handle(handle);
        return neighbours;
    });
    const bool complete = neighbours->availability().complete();
    impl_->network->post([impl = impl_.get(), content = std::move(content), neighbours] {
        impl->torrents.emplace(content->revision, Impl::Entry{content, neighbours});
    });
    lt::error_code error;
    impl_->session->add_torrent(std::move(params), error);
    if (error) {
        impl_->network->post([impl = impl_.get(), revision = torrent.revision] { impl->torrents.erase(revision); });
        return failure(Errc::internal, "joining a swarm: " + to_string(torrent.revision) + ": " + error.message());
    }
    impl_->known.emplace(torrent.revision, 0);
    if (complete) impl_->outbox.push(Complete{torrent.revision});
    return success();
}

void Session::remove(const RevisionId& revision)
{
    if (impl_->known.erase(revision) == 0) return;
    impl_->network->post([impl = impl_.get(), revision] {
        const auto at = impl->torrents.find(revision);
        impl->disk->close(revision);
        impl->handle.remove_torrent(at->second.handle());
        impl->torrents.erase(at);
    });
}

void Session::let_in(Strangers strangers)
{
    if (std::exchange(impl_->strangers, strangers) == strangers) return;
    impl_->network->post([impl = impl_.get(), strangers] {
        for (const auto& [revision, entry] : impl->torrents) entry.neighbours->let_in(strangers);
    });
}

void Session::resume(const RevisionId& revision)
{
    impl_->network->post([impl = impl_.get(), revision] {
        const auto at = impl->torrents.find(revision);
        if (at == impl->torrents.end()) return;
        impl->disk->resume(revision);
        at->second.handle().clear_error();
        at->second.handle().unset_flags(lt::torrent_flags::upload_mode);
        at->second.neighbours->resume();
    });
}

void Session::set_members(const RevisionId& revision, const std::vector<Member>& members, const std::string& zone)
{
    const auto known = impl_->known.find(revision);
    if (known == impl_->known.end()) return;
    known->second = members.size();
    impl_->share_receive_budget();
    impl_->network->post([impl = impl_.get(), revision, members, zone] {
        if (const auto at = impl->torrents.find(revision); at != impl->torrents.end()) at->second.neighbours->set_members(members, zone);
    });
}

void Session::set_seeders(const RevisionId& revision, std::vector<PeerId> seeders, std::uint32_t copies)
{
    impl_->network->post([impl = impl_.get(), revision, seeders = std::move(seeders), copies] {
        const auto at = impl->torrents.find(revision);
        Showing* const showing = at == impl->torrents.end() ? nullptr : at->second.neighbours->showing();
        if (showing != nullptr) showing->share_with(impl->options.peer, seeders, copies);
    });
}

// libtorrent never forgets a block of such a piece whose write is cancelled, as it does of a neighbour's (2.0.8 to 2.1): the piece would never be asked for
// again. So it is taken only whole: what arrived of it before is let go first, and all of it must find room.
void Session::give(const RevisionId& revision, PieceIndex piece, std::vector<char> bytes)
{
    impl_->network->post([impl = impl_.get(), revision, piece, bytes = std::move(bytes)]() mutable {
        const auto at = impl->torrents.find(revision);
        if (at == impl->torrents.end()) return;
        at->second.neighbours->given(piece);
        if (!at->second.neighbours->takes(piece)) return at->second.neighbours->refused(piece);
        impl->disk->make_way_for(revision, piece, [neighbours = at->second.neighbours, piece, bytes = std::move(bytes)](bool free) mutable {
            if (free && neighbours->takes(piece))
                neighbours->hand_in(piece, std::move(bytes));
            else
                neighbours->refused(piece);
        });
    });
}

std::vector<Event> Session::poll()
{
    return impl_->outbox.take();
}

std::optional<TorrentStats> Session::stats(const RevisionId& revision)
{
    const auto answer = impl_->ask([impl = impl_.get(), revision] {
        const auto at = impl->torrents.find(revision);
        return at == impl->torrents.end() ? std::nullopt : std::optional{at->second.neighbours->stats()};
    });
    return answer.value_or(std::nullopt);
}

std::optional<Lacking> Session::lacking(const RevisionId& revision)
{
    const auto answer = impl_->ask([impl = impl_.get(), revision] {
        const auto at = impl->torrents.find(revision);
        return at == impl->torrents.end() ? std::nullopt : std::optional{at->second.neighbours->lacking()};
    });
    return answer.value_or(std::nullopt);
}

}  // namespace shoal::swarm
