#include "peer/report.hpp"

#include "common/cli/options.hpp"
#include "common/core/quantity.hpp"
#include "common/obs/log.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace shoal::peer {
namespace {

using Event = nlohmann::ordered_json;

void print(const Event& event)
{
    std::cout << event.dump(-1, ' ', false, Event::error_handler_t::replace) << "\n" << std::flush;
}

std::string share(const FetchProgress& progress)
{
    const std::uint64_t moved = progress.from_origin + progress.from_peers;
    if (moved == 0) return {};
    const std::uint64_t percent = progress.from_peers * 100 / moved;
    return std::to_string(percent) + " % from peers, " + std::to_string(100 - percent) + " % from the origin";
}

}  // namespace

void Report::resolved(const std::string& model, const RevisionId& revision, const std::string& tag)
{
    model_ = model;
    revision_ = to_string(revision);
    obs::Fields fields{{"model", model_}, {"revision", revision_}};
    if (!tag.empty()) fields.emplace_back("tag", tag);
    obs::log(obs::Level::info, "fetch resolved", fields);
    if (output_ == Output::text) return;
    Event event{{"event", "resolved"}, {"model", model_}, {"revision", revision_}};
    if (!tag.empty()) event["tag"] = tag;
    print(event);
}

void Report::started(const std::string& path, std::uint64_t files, const FetchProgress& progress)
{
    if (output_ == Output::json)
        print({{"event", "started"}, {"model", model_}, {"revision", revision_}, {"path", path}, {"files", files}, {"total", progress.total},
            {"reused", progress.reused}});
}

void Report::progress(const FetchProgress& progress, TimePoint now)
{
    if (output_ == Output::text) {
        line_.show({"fetching " + model_, progress.bytes, progress.total, progress.rate, share(progress)}, now);
        return;
    }
    if (now - last_ < interval_) return;
    last_ = now;
    tell_progress(progress);
}

void Report::tell_progress(const FetchProgress& progress)
{
    told_ = std::max(told_, progress.bytes);
    Event event{{"event", "progress"}, {"bytes", told_}, {"total", progress.total}, {"rate", progress.rate}, {"from_peers", progress.from_peers},
        {"from_origin", progress.from_origin}, {"reused", progress.reused}};
    const std::uint64_t left = progress.total - std::min(told_, progress.total);
    event["eta_s"] = left == 0 ? Event(0) : progress.rate == 0 ? Event(nullptr) : Event(left / progress.rate);
    print(event);
}

void Report::verified(const FetchProgress& progress)
{
    line_.finish();
    if (output_ == Output::json) {
        tell_progress(progress);
        print({{"event", "verified"}, {"model", model_}, {"revision", revision_}, {"bytes", progress.total}});
    }
}

void Report::ready(const std::string& path, const FetchProgress& progress, Duration taken)
{
    const double seconds = std::chrono::duration<double>(taken).count();
    line_.finish();
    if (output_ == Output::json) {
        print({{"event", "ready"}, {"model", model_}, {"revision", revision_}, {"path", path}, {"bytes", progress.total}, {"from_origin", progress.from_origin},
            {"from_peers", progress.from_peers}, {"reused", progress.reused}, {"seconds", seconds}});
        return;
    }
    std::cout << "ready: " << model_ << " " << revision_ << " in " << path << ": " << format_size(progress.total) << " in "
              << format_duration(std::chrono::duration_cast<std::chrono::milliseconds>(taken)) << " (" << format_size(progress.from_origin)
              << " from the origin, " << format_size(progress.from_peers) << " from peers, " << format_size(progress.reused) << " reused)\n"
              << std::flush;
}

void Report::failed(int code, const Error& error)
{
    line_.finish();
    if (output_ == Output::json) print({{"event", "failed"}, {"code", code}, {"what", error.message}, {"hint", cli::with_hint(error).hint}});
}

}  // namespace shoal::peer
