// Real sessions on loopback, and waiting for what they tell.
#pragma once

#include "common/core/clock.hpp"
#include "common/swarm/session.hpp"
#include "tests/swarm/content.hpp"

#include <gmock/gmock.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

namespace shoal::swarm {

using namespace std::chrono_literals;

// What wakes a test: something waits in somebody's poll().
class Bell {
public:
    void ring()
    {
        {
            const std::lock_guard lock{mutex_};
            rung_ = true;
        }
        changed_.notify_all();
    }
    void wait(Duration most)
    {
        std::unique_lock lock{mutex_};
        changed_.wait_for(lock, most, [this] { return rung_; });
        rung_ = false;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool rung_ = false;
};

struct Node {
    explicit Node(Bell& bell, Kind kind = Kind::peer, const std::function<void(SessionOptions&)>& adjust = {})
    {
        options.kind = kind;
        options.peer = random_id<PeerId>();
        options.key = random_id<MemberKey>();
        options.listen = {"127.0.0.1:0"};
        options.notify = [&bell] { bell.ring(); };
        if (adjust) adjust(options);
        auto opened = Session::open(options);
        EXPECT_TRUE(opened) << opened.error().text();
        session = std::move(opened.value());
    }

    std::shared_ptr<MemoryStorage> add(const Content& content, MemoryStorage::Holds holds, const std::function<void(Torrent&)>& adjust = {})
    {
        auto made = std::make_shared<MemoryStorage>(content, holds);
        add(content, made, std::vector<bool>(content.pieces.size(), holds == MemoryStorage::Holds::all), adjust);
        return made;
    }
    void add(const Content& content, std::shared_ptr<MemoryStorage> with, std::vector<bool> have, const std::function<void(Torrent&)>& adjust = {})
    {
        storage = std::move(with);
        Torrent torrent{content.revision, content.layout, content.layers, {}, storage, std::move(have), {}};
        if (adjust) adjust(torrent);
        const auto added = session->add(std::move(torrent));
        EXPECT_TRUE(added) << added.error().text();
    }

    [[nodiscard]] Member member(bool dial = true) const
    {
        return {options.peer, options.key, options.kind == Kind::seeder, dial, {"127.0.0.1:" + std::to_string(session->port())}};
    }
    void take_events()
    {
        for (Event& event : session->poll()) events.push_back(std::move(event));
    }
    template <typename Kind>
    [[nodiscard]] std::size_t count() const
    {
        return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [](const Event& event) { return std::holds_alternative<Kind>(event); }));
    }
    template <typename Kind>
    [[nodiscard]] const Kind& first() const
    {
        return std::get<Kind>(*std::find_if(events.begin(), events.end(), [](const Event& event) { return std::holds_alternative<Kind>(event); }));
    }
    [[nodiscard]] bool complete() const { return count<Complete>() > 0; }
    [[nodiscard]] TorrentStats stats(const Content& content) const
    {
        for (int i = 0; i < 20; ++i)  // a busy machine may be slow to answer
            if (auto stats = session->stats(content.revision)) return std::move(*stats);
        ADD_FAILURE() << "no answer";
        return {};
    }

    SessionOptions options;
    std::shared_ptr<MemoryStorage> storage;
    std::vector<Event> events;
    std::unique_ptr<Session> session;  // last: ends first
};

class Swarm : public testing::Test {
protected:
    Node& node(Kind kind = Kind::peer, const std::function<void(SessionOptions&)>& adjust = {})
    {
        nodes_.push_back(std::make_unique<Node>(bell_, kind, adjust));
        return *nodes_.back();
    }
    Node& seeder(const Content& content, const std::function<void(SessionOptions&)>& adjust = {})
    {
        Node& made = node(Kind::seeder, adjust);
        made.add(content, MemoryStorage::Holds::all);
        return made;
    }
    Node& peer(const Content& content, const std::function<void(SessionOptions&)>& adjust = {})
    {
        Node& made = node(Kind::peer, adjust);
        made.add(content, MemoryStorage::Holds::nothing);
        return made;
    }
    // Each knows all others, as a tracker tells them; `dialler` dials, nobody else does.
    static void introduce(const RevisionId& revision, Node& dialler, const std::vector<Node*>& others)
    {
        std::vector<Member> members;
        for (Node* other : others) {
            members.push_back(other->member());
            other->session->set_members(revision, {dialler.member(false)});
        }
        dialler.session->set_members(revision, members);
    }
    void everybody_knows_everybody(const RevisionId& revision)
    {
        for (const auto& one : nodes_) {
            std::vector<Member> members;
            for (const auto& other : nodes_)
                if (other != one) members.push_back(other->member());
            one->session->set_members(revision, members);
        }
    }
    bool until(const std::function<bool()>& so, Duration within = 20s)
    {
        const TimePoint deadline = Clock::now() + within;
        for (;;) {
            for (const auto& one : nodes_) one->take_events();
            if (so()) return true;
            if (Clock::now() >= deadline) return false;
            bell_.wait(20ms);
        }
    }

    Bell bell_;
    std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace shoal::swarm
