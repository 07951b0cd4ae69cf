#include "peer/origin_reads.hpp"

#include "common/core/quantity.hpp"
#include "common/obs/log.hpp"

#include <algorithm>
#include <utility>

namespace shoal::peer {
namespace {

constexpr std::uint64_t most_bytes = 32U << 20U;  // read or being written: half of what the disk backend buffers
constexpr std::size_t most_chosen = 256;
constexpr Duration choice_holds = std::chrono::milliseconds{250};  // then others may have read some of it
constexpr Duration choice_rests = std::chrono::milliseconds{50};   // and is not made more often
constexpr Duration after_refusal = std::chrono::milliseconds{250};
constexpr Duration first_pause = std::chrono::seconds{1};  // doubled with each failure, half of it by chance
constexpr Duration longest_pause = std::chrono::seconds{15};

std::string seconds_text(Duration duration)
{
    return format_duration(std::chrono::duration_cast<std::chrono::seconds>(duration));
}

}  // namespace

OriginReads::OriginReads(Means means, std::shared_ptr<const RevisionData> data, OriginFallback decisions)
    : means_{std::move(means)}, data_{std::move(data)}, decisions_{std::move(decisions)}, random_{random_seed()}
{}

OriginReads::~OriginReads()
{
    *alive_ = false;
}

void OriginReads::tick(TimePoint now, Room room)
{
    room_ = room;
    if (ended_) return;
    const swarm::TorrentStats& stats = means_.transfer.stats();
    const SwarmFacts facts{stats.from_origin - stats.given, stats.from_peers, stats.seeder_connected, stats.pieces_nobody_has};
    const Duration quiet = decisions_.quiet(now);
    switch (decisions_.saw(facts, now)) {
    case OriginFallback::Change::began:
        obs::log(obs::Level::info, "reading the store itself",
            {{"store", means_.store->url()}, {"revision", to_string(data_->revision)},
                {"cause", "the swarm gave nothing for " + seconds_text(quiet) + ": " + means_.transfer.why_nothing_comes()}});
        break;
    case OriginFallback::Change::ended: tell_ended("the swarm gives again"); break;
    case OriginFallback::Change::none: break;
    }
    pump();
}

void OriginReads::on_piece(PieceIndex piece)
{
    forget(piece);
    std::erase(chosen_, piece);
    pump();
}

void OriginReads::on_refused(PieceIndex piece)
{
    forget(piece);  // chosen again later
    paused_until_ = std::max(paused_until_, Clock::now() + after_refusal);
}

void OriginReads::end(const std::string& why)
{
    if (!std::exchange(ended_, true) && decisions_.reading()) tell_ended(why);
}

void OriginReads::tell_ended(const std::string& why)
{
    chosen_.clear();
    trouble_.clear();
    obs::log(obs::Level::info, "reading the store no longer",
        {{"store", means_.store->url()}, {"revision", to_string(data_->revision)}, {"cause", why}, {"bytes", std::to_string(bytes_read_)}});
}

void OriginReads::forget(PieceIndex piece)
{
    const auto at = under_way_.find(piece.value);
    if (at == under_way_.end()) return;
    bytes_under_way_ -= at->second;
    under_way_.erase(at);
}

void OriginReads::pump()
{
    const TimePoint now = Clock::now();
    while (!ended_ && room_ == Room::there && decisions_.reading() && now >= paused_until_ && under_way_.size() < most_origin_reads) {
        const auto piece = next(now);
        if (!piece) return;
        if (bytes_under_way_ > 0 && bytes_under_way_ + data_->layout->place(*piece).length > most_bytes) return chosen_.push_back(*piece);
        start(*piece);
    }
}

std::optional<PieceIndex> OriginReads::next(TimePoint now)
{
    if (now - chosen_at_ > (chosen_.empty() ? choice_rests : choice_holds)) refill(now);
    while (!chosen_.empty()) {
        const PieceIndex piece = chosen_.back();
        chosen_.pop_back();
        if (!under_way_.contains(piece.value)) return piece;
    }
    return std::nullopt;
}

void OriginReads::refill(TimePoint now)
{
    auto lacking = means_.transfer.lacking();
    if (!lacking) return;
    chosen_at_ = now;
    chosen_ = decisions_.choose({std::move(lacking->nobodys), std::move(lacking->held), std::move(lacking->peers), data_->layout->pieces()}, most_chosen, now);
}

void OriginReads::start(PieceIndex piece)
{
    const std::uint64_t length = data_->layout->place(piece).length;
    auto slot = std::make_shared<std::optional<Result<std::vector<char>>>>();
    const bool taken = means_.readers.run([slot, store = means_.store, data = data_, piece] { slot->emplace(store->piece(*data, piece)); },
        [this, alive = alive_, slot, piece] {
            if (*alive) was_read(piece, std::move(**slot));
        });
    if (!taken) return;
    under_way_.emplace(piece.value, length);
    bytes_under_way_ += length;
}

void OriginReads::was_read(PieceIndex piece, Result<std::vector<char>> bytes)
{
    if (!bytes) {
        forget(piece);
        return failed(bytes.error());
    }
    pause_ = {};
    trouble_.clear();
    bytes_read_ += bytes.value().size();
    means_.transfer.give(piece, std::move(bytes).value());
    pump();
}

void OriginReads::failed(const Error& error)
{
    if (ended_) return;
    if (!may_pass(error.code)) {
        given_up_ = error;
        return end(error.message);
    }
    const TimePoint now = Clock::now();
    trouble_ = error.message;
    if (now < paused_until_) return;  // another read, of the same failure
    pause_ = std::clamp<Duration>(pause_ * 2, first_pause, longest_pause);
    paused_until_ = now + pause_ / 2 + Duration{std::uniform_int_distribution<Duration::rep>{0, (pause_ / 2).count()}(random_)};
    obs::log(obs::Level::warning, "cannot read the store; trying again", {{"cause", error.message}});
}

}  // namespace shoal::peer
