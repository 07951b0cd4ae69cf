// /metrics, /livez and /readyz of a fetch, where somebody asked for them. On the loop.
#pragma once

#include "common/core/result.hpp"
#include "common/net/http.hpp"
#include "common/net/loop.hpp"
#include "common/obs/metrics.hpp"
#include "common/swarm/session.hpp"

#include <memory>
#include <string>

namespace shoal::peer {

class StatusServer {
public:
    // Prints "http listening on ADDR:PORT" to stderr. Fails as HttpServer::listen does.
    static Result<std::unique_ptr<StatusServer>> listen(net::Loop& loop, const std::string& endpoint);
    void update(const std::string& model, const swarm::TorrentStats& stats, bool ready);
    void next();  // another fetch begins: its counts start at 0

private:
    StatusServer() : metrics_{"shoal-peer"} {}
    [[nodiscard]] net::Response answer(const net::Request& request) const;
    void count(const char* name, const char* help, const obs::Labels& labels, std::uint64_t now, std::uint64_t& before);
    obs::Metrics metrics_;
    bool ready_ = false;
    std::uint64_t origin_ = 0, peers_ = 0, sent_ = 0;
    std::unique_ptr<net::HttpServer> server_;
};

}  // namespace shoal::peer
