#include "peer/run.hpp"

#include "common/cli/process.hpp"
#include "common/net/loop.hpp"
#include "peer/status_server.hpp"
#include "peer/verify.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace shoal::peer {
namespace {

constexpr Duration status_period = std::chrono::milliseconds{500};

// Fetches one after the other; the first that fails ends it.
class FetchSeries {
public:
    FetchSeries(net::Loop& loop, FetchOptions options) : loop_{loop}, options_{std::move(options)} {}

    int run()
    {
        if (!options_.http.empty()) {
            auto server = StatusServer::listen(loop_, options_.http);
            if (!server) return cli::report(program, server.error());
            status_ = std::move(server).value();
        }
        const auto signals = loop_.on_signals([this](int signal) { interrupt(signal); });
        const auto updates = loop_.every(status_period, [this] { update_status(); });
        loop_.post([this] { next(); });
        loop_.run();
        const int reported = error_ ? cli::report(program, *error_) : 0;
        const int code = signal_ != 0 && error_ ? 128 + signal_ : reported;
        cli::exit_by_alarm(code);  // a resolver or a disk may hold a thread longer than anybody waits
        fetch_.reset();
        return code;
    }

private:
    void next()
    {
        fetch_.reset();
        if (at_ == options_.requests.size()) return loop_.stop();
        if (status_) status_->next();
        report_.emplace(options_.output, options_.progress_interval);
        fetch_ =
            std::make_unique<Fetch>(loop_, options_.requests[at_++], options_.presence, *report_, [this](Result<void> result) { done(std::move(result)); });
        fetch_->start();
    }

    void done(Result<void> result)
    {
        update_status();
        if (result) return loop_.post([this] { next(); });
        error_ = result.error();
        report_->failed(signal_ != 0 ? 128 + signal_ : exit_code(error_->code), *error_);
        loop_.stop();
    }

    void interrupt(int signal)
    {
        if (signal_ != 0) return;
        signal_ = signal;
        cli::exit_by_alarm(128 + signal);
        if (fetch_) fetch_->interrupt();
    }

    void update_status()
    {
        if (status_ && fetch_) status_->update(options_.requests[at_ - 1].ask.model, fetch_->stats(), fetch_->ready() && at_ == options_.requests.size());
    }

    net::Loop& loop_;
    FetchOptions options_;
    std::size_t at_ = 0;
    int signal_ = 0;
    std::optional<Error> error_;
    std::optional<Report> report_;
    std::unique_ptr<StatusServer> status_;
    std::unique_ptr<Fetch> fetch_;
};

void tell_fault(Output output, const Verified& verified, const Fault& fault)
{
    if (output == Output::text) {
        std::cout << "wrong: " << text_of(verified, fault) << "\n";
        return;
    }
    const nlohmann::ordered_json event{{"event", "mismatch"}, {"model", verified.marker.model}, {"revision", to_string(verified.marker.revision)},
        {"path", verified.site.directory.string()}, {"file", verified.paths[fault.file.value]}, {"offset", fault.offset}, {"length", fault.length},
        {"expected", fault.expected}, {"found", fault.found}};
    std::cout << event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

void tell_good(Output output, const Verified& verified)
{
    if (output == Output::text) {
        std::cout << "verified: " << verified.marker.model << " " << to_string(verified.marker.revision) << " in " << verified.site.directory.string() << ": "
                  << verified.marker.files.size() << " files, " << verified.marker.bytes << " bytes\n";
        return;
    }
    const nlohmann::ordered_json event{{"event", "verified"}, {"model", verified.marker.model}, {"revision", to_string(verified.marker.revision)},
        {"path", verified.site.directory.string()}, {"files", verified.marker.files.size()}, {"bytes", verified.marker.bytes}};
    std::cout << event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
}

void tell(Output output, const std::vector<Verified>& all)
{
    for (const Verified& verified : all) {
        for (const Fault& fault : verified.faults) tell_fault(output, verified, fault);
        if (verified.good()) tell_good(output, verified);
    }
    std::cout << std::flush;
}

// Reads on a worker, so that a signal ends it. The exit code of the signal, or 0.
int read_all(const VerifyOptions& options, std::optional<Result<std::vector<Verified>>>& result)
{
    net::Loop loop;
    std::atomic<bool> cancelled{false};
    int signal_code = 0;
    const auto signals = loop.on_signals([&](int signal) {
        signal_code = 128 + signal;
        cli::exit_by_alarm(signal_code);
        cancelled = true;
    });
    net::Workers workers{loop, 1};
    workers.run([&] { result.emplace(verify_directories(options, cancelled)); }, [&loop] { loop.stop(); });
    loop.run();
    return signal_code;
}

int fail(const VerifyOptions& options, int code, const Error& error)
{
    Report{options.fetch.output, options.fetch.progress_interval}.failed(code, error);
    (void)cli::report(program, error);
    return code;
}

int repair(const VerifyOptions& options, const std::vector<Verified>& all)
{
    FetchOptions fetch = options.fetch;
    for (const Verified& verified : all) {
        if (verified.good()) continue;
        FetchRequest request = options.request;
        request.site = verified.site;
        request.ask = {verified.marker.model, verified.marker.revision, verified.marker.tag, verified.marker.include, verified.marker.exclude, false, true};
        fetch.requests.push_back(std::move(request));
    }
    return run_fetch(std::move(fetch));
}

}  // namespace

int run_fetch(FetchOptions options)
{
    net::Loop loop;
    FetchSeries series{loop, std::move(options)};
    return series.run();
}

int run_verify(const VerifyOptions& options)
{
    std::optional<Result<std::vector<Verified>>> result;
    const int signal_code = read_all(options, result);
    if (signal_code != 0) return fail(options, signal_code, {Errc::interrupted, "verify was interrupted", {}});
    if (!*result) return fail(options, exit_code(result->error().code), result->error());
    tell(options.fetch.output, result->value());
    const auto judged = judge(result->value());
    if (judged) return 0;
    return options.repair ? repair(options, result->value()) : fail(options, exit_code(judged.error().code), judged.error());
}

}  // namespace shoal::peer
