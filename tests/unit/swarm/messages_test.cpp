#include "common/swarm/messages.hpp"

#include "common/core/random.hpp"

#include <libtorrent/bdecode.hpp>
#include <libtorrent/bencode.hpp>
#include <libtorrent/entry.hpp>
#include <libtorrent/peer_request.hpp>

#include <gtest/gtest.h>

#include <iterator>

namespace shoal::swarm {
namespace {

std::string encoded(const lt::entry& entry)
{
    std::string out;
    lt::bencode(std::back_inserter(out), entry);
    return out;
}

// What the other side reads of a handshake's bytes; the bytes must stay while the node is used.
class Handshake {
public:
    explicit Handshake(std::string bytes) : bytes_{std::move(bytes)}
    {
        lt::error_code error;
        node_ = lt::bdecode({bytes_.data(), static_cast<std::ptrdiff_t>(bytes_.size())}, error);
        is_dict_ = !error && node_.type() == lt::bdecode_node::dict_t;
    }
    [[nodiscard]] bool is_dict() const { return is_dict_; }  // libtorrent hands on no other
    [[nodiscard]] std::optional<Shown> shown() const { return read_shown(node_); }
    [[nodiscard]] std::uint8_t again_id() const { return read_words(node_)[0]; }

private:
    std::string bytes_;
    lt::bdecode_node node_;
    bool is_dict_ = false;
};

Shown somebody(Kind kind = Kind::seeder)
{
    return {random_id<PeerId>(), random_id<MemberKey>(), kind, true};
}

lt::entry handshake_of(const Shown& shown)
{
    lt::entry handshake{lt::entry::dictionary_t};
    write_shown(handshake, shown);
    return handshake;
}

TEST(ExtensionHandshake, WhatIsShownIsRead)
{
    for (const Kind kind : {Kind::peer, Kind::seeder}) {
        const Shown shown = somebody(kind);
        const Handshake handshake{encoded(handshake_of(shown))};
        const auto read = handshake.shown();
        ASSERT_TRUE(read);
        EXPECT_EQ(read->peer, shown.peer);
        EXPECT_EQ(read->key, shown.key);
        EXPECT_EQ(read->kind, kind);
        EXPECT_EQ(word_of(handshake.again_id()), Word::again);
        EXPECT_EQ(read->dispatch, shown.dispatch);
    }
    const Handshake keyless{encoded(handshake_of({random_id<PeerId>(), std::nullopt, Kind::peer}))};
    ASSERT_TRUE(keyless.shown());
    EXPECT_FALSE(keyless.shown()->key);
}

TEST(ExtensionHandshake, AStockClientsShowsNothing)
{
    const Handshake stock{"d1:md11:ut_metadatai2e6:ut_pexi1ee1:pi6881e1:v10:lt/2.0.8.0e"};
    ASSERT_TRUE(stock.is_dict());
    EXPECT_FALSE(stock.shown());
    EXPECT_EQ(stock.again_id(), 0);
    EXPECT_FALSE(Handshake{"de"}.shown());
}

TEST(ExtensionHandshake, ADictionaryThatLacksOrSpoilsWhatItMustHoldIsNone)
{
    const lt::entry good = handshake_of(somebody());
    const auto refuses = [](lt::entry changed) { EXPECT_FALSE(Handshake{encoded(changed)}.shown()) << changed.to_string(); };
    lt::entry one = good;
    one["shoal"] = "a string";
    refuses(one);
    one = good;
    one["shoal"].dict().erase("id");
    refuses(one);
    for (const std::size_t size : {std::size_t{0}, PeerId::size - 1, PeerId::size + 1, std::size_t{100'000}}) {
        one = good;
        one["shoal"]["id"] = std::string(size, 'x');
        refuses(one);
    }
    one = good;
    one["shoal"]["id"] = 7;
    refuses(one);
    for (const std::int64_t version : {std::int64_t{0}, std::int64_t{-1}}) {
        one = good;
        one["shoal"]["v"] = version;
        refuses(one);
    }
    one = good;
    one["shoal"]["v"] = "1";
    refuses(one);
}

TEST(ExtensionHandshake, AKeyOfAnotherLengthIsNoKey)
{
    for (const std::size_t size : {std::size_t{0}, MemberKey::size - 1, MemberKey::size + 1}) {
        lt::entry changed = handshake_of(somebody());
        changed["shoal"]["key"] = std::string(size, '\0');
        const Handshake handshake{encoded(changed)};
        ASSERT_TRUE(handshake.shown());
        EXPECT_FALSE(handshake.shown()->key);
    }
}

TEST(ExtensionHandshake, ANewerVersionAndUnknownKeysAreUnderstood)
{
    const Shown shown = somebody(Kind::peer);
    lt::entry newer = handshake_of(shown);
    newer["shoal"]["v"] = 7;
    newer["shoal"]["future"] = "x";
    newer["shoal"]["kind"] = "cache";
    const Handshake handshake{encoded(newer)};
    ASSERT_TRUE(handshake.shown());
    EXPECT_EQ(handshake.shown()->key, shown.key);
    EXPECT_EQ(handshake.shown()->kind, Kind::peer);
}

TEST(ExtensionHandshake, AMessageNumberThatIsNoneIsNoNumber)
{
    for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{256}, std::int64_t{256 + 20}, std::int64_t{1} << 40}) {
        lt::entry changed = handshake_of(somebody());
        changed["m"]["shoal_again"] = number;
        EXPECT_EQ(Handshake{encoded(changed)}.again_id(), 0) << number;
    }
    lt::entry changed = handshake_of(somebody());
    changed["m"] = "no dictionary";
    EXPECT_EQ(Handshake{encoded(changed)}.again_id(), 0);
}

TEST(ExtensionHandshake, CutOrSpoiledBytesGiveNothingOrAWholeIdentity)
{
    const std::string good = encoded(handshake_of(somebody()));
    for (std::size_t length = 0; length < good.size(); ++length) EXPECT_FALSE(Handshake{good.substr(0, length)}.is_dict());
    Random random{3};
    for (int round = 0; round < 20'000; ++round) {
        std::string spoiled = good;
        for (int i = 0; i < 3; ++i) spoiled[random() % spoiled.size()] = static_cast<char>(random());
        const Handshake handshake{spoiled};
        if (!handshake.is_dict()) continue;
        static_cast<void>(handshake.shown());
        static_cast<void>(handshake.again_id());
    }
}

TEST(PeerMessages, AreFramedAsTheWireHasThem)
{
    using namespace std::string_literals;
    EXPECT_EQ(word_message(7), "\0\0\0\x02\x14\x07"s);
    EXPECT_EQ(word_message(7, "ab"), "\0\0\0\x04\x14\x07"
                                     "ab"s);
    const auto have = have_message({0x01020304});
    EXPECT_EQ((std::string{have.begin(), have.end()}), "\0\0\0\x05\x04\x01\x02\x03\x04"s);
    EXPECT_EQ(bitfield_message({true, false, false, false, false, false, false, true, true}), "\0\0\0\x03\x05\x81\x80"s);
    EXPECT_EQ(bitfield_message({}), "\0\0\0\x01\x05"s);
    const auto reject = reject_message({lt::piece_index_t{0x01020304}, 0x4000, 0x05});
    EXPECT_EQ((std::string{reject.begin(), reject.end()}), "\0\0\0\x0d\x10\x01\x02\x03\x04\0\0\x40\0\0\0\0\x05"s);
}

}  // namespace
}  // namespace shoal::swarm
