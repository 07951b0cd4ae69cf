// Each piece crosses the border of a zone once: real sessions, whose members say in which zone they are.
#include "tests/swarm/nodes.hpp"

#include <map>

namespace shoal::swarm {
namespace {

const Content& model()
{
    static const Content content = make_content({16'000'000, 1000, 4'000'000});
    return content;
}

class ZonedSwarm : public Swarm {
protected:
    Node& peer_in(char zone)
    {
        Node& made = peer(model(), [](SessionOptions& options) { options.upload_limit = 10'000'000; });
        zones_[made.options.peer] = zone;
        return made;
    }
    Node& seeder_in(char zone)
    {
        Node& made = seeder(model(), [](SessionOptions& options) { options.upload_limit = 10'000'000; });
        zones_[made.options.peer] = zone;
        return made;
    }
    void introduce_all()
    {
        for (const auto& one : nodes_) {
            std::vector<Member> members;
            for (const auto& other : nodes_) {
                if (other == one) continue;
                members.push_back(other->member());
                members.back().zone = zones_.at(other->options.peer);
            }
            one->session->set_members(model().revision, members, std::string(1, zones_.at(one->options.peer)));
        }
    }
    [[nodiscard]] bool across(const PeerId& a, const PeerId& b) const { return zones_.at(a) != zones_.at(b); }
    // Payload that came from another zone, in copies of the model.
    [[nodiscard]] double crossed() const
    {
        std::uint64_t bytes = 0;
        for (const auto& one : nodes_)
            for (const auto& [from, received] : one->stats(model()).received)
                if (across(one->options.peer, from)) bytes += received;
        return static_cast<double>(bytes) / static_cast<double>(model().bytes());
    }
    static bool complete(const std::vector<Node*>& peers)
    {
        return std::all_of(peers.begin(), peers.end(), [](const Node* one) { return one->complete() && one->storage->complete(); });
    }

    std::map<PeerId, char> zones_;
};

TEST_F(ZonedSwarm, APieceCrossesTheBorderOnce)
{
    seeder_in('a');
    std::vector<Node*> peers;
    for (const char zone : {'a', 'b', 'a', 'b', 'a', 'b'}) peers.push_back(&peer_in(zone));
    introduce_all();
    ASSERT_TRUE(until([&] { return complete(peers); }, 40s));
    EXPECT_GE(crossed(), 1.0);
    EXPECT_LE(crossed(), 1.2);
    for (const Node* one : peers) EXPECT_TRUE(zones_.at(one->options.peer) == 'a' || one->stats(model()).from_origin < model().bytes() / 8);
}

TEST_F(ZonedSwarm, AZoneWithoutASeederIsFedAcrossTheBorder)
{
    seeder_in('a');
    const std::vector<Node*> peers{&peer_in('b'), &peer_in('b')};
    introduce_all();
    ASSERT_TRUE(until([&] { return complete(peers); }, 40s));
    EXPECT_LE(crossed(), 1.05);
}

TEST_F(ZonedSwarm, WhatAMateShouldHaveFetchedComesOverTheBorderAfterAWhile)
{
    seeder_in('a');
    Node& home = peer_in('a');
    Node& abroad = peer_in('b');
    Node& mate = node();  // told of, and never there
    zones_[mate.options.peer] = 'b';
    introduce_all();
    EXPECT_TRUE(until([&] { return home.complete() && abroad.complete(); }, 40s));
}

}  // namespace
}  // namespace shoal::swarm
