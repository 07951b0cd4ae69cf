// `shoal-seeder serve`: gives the revisions that trackers ask for to their swarms, straight from the object store. Runs on the calling thread until a signal.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shoal::seeder {

struct ServeOptions {
    std::string store;                  // URL
    std::vector<std::string> trackers;  // URLs, at least one
    std::vector<std::string> listen{"0.0.0.0:6881", "[::]:6881"};
    std::string http = "127.0.0.1:8081";       // empty: none
    std::uint64_t upload_limit = 0;            // bytes/s, 0: none
    std::uint64_t origin_limit = 0;            // bytes/s read from the store, 0: none
    std::uint64_t cache_bytes = 96ULL << 20U;  // verified pieces in memory
    std::string node;                          // empty: the hostname
    std::string zone, rack;                    // empty: the tracker's topology tells
    std::map<std::string, std::string> labels;
    std::string advertise;  // "addr", "addr:port"; empty: where its beats come from
};

// Exit code: 0 after SIGTERM or SIGINT; else the reason it could not start, reported on stderr.
int serve(const ServeOptions& options);

}  // namespace shoal::seeder
