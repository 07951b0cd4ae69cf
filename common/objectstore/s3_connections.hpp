// Connections to a store, kept open and used again. Any thread; each exchange blocks the thread that makes it until its deadline.
#pragma once

#include "common/objectstore/http_exchange.hpp"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace shoal::objectstore {

struct Signature {
    SigningKeys keys = {};
    std::string region = {};
    std::optional<std::int64_t> time = {};  // seconds since 1970, where this machine's clock is not the store's
};

class S3Connections {
public:
    // At most `most` exchanges at once; the others wait for their turn, until their deadline. `ca_file`: empty for the system's.
    explicit S3Connections(std::string ca_file, std::size_t most = 64);
    ~S3Connections();
    S3Connections(const S3Connections&) = delete;
    S3Connections& operator=(const S3Connections&) = delete;

    HttpReply exchange(const HttpRequest& request, const std::optional<Signature>& signature = {});

private:
    struct Connection;
    struct GiveBack {
        S3Connections* all;
        void operator()(Connection* connection) const { all->give_back(connection); }
    };
    using Turn = std::unique_ptr<Connection, GiveBack>;
    Turn take(Duration within);  // null: none was free
    void give_back(Connection* connection);

    std::string ca_file_;
    std::size_t most_;
    std::mutex mutex_;
    std::condition_variable freed_;
    std::size_t taken_ = 0;
    std::vector<std::unique_ptr<Connection>> idle_;  // the one used last is taken first: its connection is the likeliest to live
};

}  // namespace shoal::objectstore
