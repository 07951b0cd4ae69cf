#include "peer/status_server.hpp"

#include <iostream>

namespace shoal::peer {

Result<std::unique_ptr<StatusServer>> StatusServer::listen(net::Loop& loop, const std::string& endpoint)
{
    std::unique_ptr<StatusServer> status{new StatusServer};
    auto server = net::HttpServer::listen(
        loop, endpoint, [raw = status.get()](const net::Request& request, const net::Respond& respond) { respond(raw->answer(request)); });
    if (!server) return failure(server.error());
    status->server_ = std::move(server).value();
    std::cerr << "http listening on " << status->server_->endpoint() << "\n" << std::flush;
    return status;
}

net::Response StatusServer::answer(const net::Request& request) const
{
    if (request.path == "/metrics") return {200, "text/plain; version=0.0.4", metrics_.text(), {}};
    if (request.path == "/livez") return {200, "text/plain; charset=utf-8", "ok\n", {}};
    if (request.path == "/readyz")
        return ready_ ? net::Response{200, "text/plain; charset=utf-8", "ok\n", {}} : net::Response{503, "text/plain; charset=utf-8", "fetching\n", {}};
    return {404, "text/plain; charset=utf-8", "not found\n", {}};
}

void StatusServer::count(const char* name, const char* help, const obs::Labels& labels, std::uint64_t now, std::uint64_t& before)
{
    if (now > before) metrics_.add(name, help, labels, static_cast<double>(now - before));
    before = now;
}

void StatusServer::update(const std::string& model, const swarm::TorrentStats& stats, bool ready)
{
    ready_ = ready;
    count("shoal_received_bytes_total", "Payload received", {{"source", "origin"}}, stats.from_origin, origin_);
    count("shoal_received_bytes_total", "Payload received", {{"source", "remote"}}, stats.from_peers, peers_);
    count("shoal_sent_bytes_total", "Payload sent", {}, stats.sent, sent_);
    metrics_.set("shoal_verified_bytes", "Verified bytes of the revision that is fetched", {{"model", model}}, static_cast<double>(stats.bytes_have));
}

void StatusServer::next()
{
    origin_ = peers_ = sent_ = 0;
}

}  // namespace shoal::peer
