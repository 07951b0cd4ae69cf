#include "common/origin/origin_gate.hpp"
#include "common/origin/stretches.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace shoal::origin {
namespace {

constexpr std::uint32_t piece_size = 256U << 10U;

// A file of three pieces, and a pack of 600 files of 32 KiB, which are 75 pieces.
std::shared_ptr<const model::Layout> layout()
{
    model::Manifest manifest;
    manifest.piece_size = piece_size;
    std::vector<std::uint64_t> sizes;
    for (int i = 0; i < 600; ++i) {
        manifest.files.push_back({"p/" + std::to_string(1000 + i), 32U << 10U, {}, {}});
        sizes.push_back(32U << 10U);
    }
    manifest.files.push_back({"z", 3 * piece_size, {}, {}});
    sizes.push_back(3 * piece_size);
    for (const auto& files : model::pack_files(sizes, piece_size)) manifest.packs.push_back({files, files.size() * (32U << 10U), {}});
    return std::make_shared<const model::Layout>(manifest);
}

class StretchesTest : public testing::Test {
protected:
    // Whether the piece came, and is the one that was asked for: pieces are filled with their number.
    bool take(Stretches& from, std::uint32_t piece)
    {
        std::vector<std::byte> out(pieces->place({piece}).length);
        if (!from.take({piece}, out, now)) return false;
        EXPECT_EQ(out.front(), static_cast<std::byte>(piece));
        EXPECT_EQ(out.back(), static_cast<std::byte>(piece));
        return true;
    }
    Stretches::ReadRun reader()
    {
        return [this](const PieceRun& run, MutableBytes out) -> Result<void> {
            ++reads;
            if (takes > Duration{}) now += takes;
            if (broken) return failure(Errc::io, "broken");
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(run.first.value + i / piece_size);
            return success();
        };
    }
    std::shared_ptr<const model::Layout> pieces = layout();
    std::uint32_t first = pieces->files()[0].first_piece;
    std::shared_ptr<AheadRoom> room = std::make_shared<AheadRoom>(64U << 20U);
    TimePoint now{};
    Duration takes{};  // a read
    std::atomic<int> reads{0};
    bool broken = false;
};

TEST_F(StretchesTest, OfAPackOfEighteenMegabytesTakeThreeReads)
{
    ASSERT_EQ(pieces->files()[0].pieces, 75U);
    Stretches stretches{pieces, room, reader()};
    for (std::uint32_t i = 0; i < 75; ++i) EXPECT_TRUE(take(stretches, first + 74 - i));
    EXPECT_EQ(reads, 3);
}

TEST_F(StretchesTest, AreOfPacksAlone)
{
    EXPECT_FALSE(stretch_around(*pieces, {pieces->files()[1].first_piece}));
    const auto last = stretch_around(*pieces, {first + 74});
    ASSERT_TRUE(last);
    EXPECT_EQ(last->first.value, first + 64);
    EXPECT_EQ(last->count, 11U);
    EXPECT_EQ(last->bytes, 11U * piece_size);
}

TEST_F(StretchesTest, APieceThatWasGivenIsReadAloneUntilAnotherSwarmAsks)
{
    Stretches stretches{pieces, room, reader()};
    EXPECT_TRUE(take(stretches, first));
    EXPECT_FALSE(take(stretches, first));
    now += std::chrono::seconds{31};
    EXPECT_TRUE(take(stretches, first));
    EXPECT_EQ(reads, 2);
}

TEST_F(StretchesTest, WhatNobodyAsksForIsLetGo)
{
    room = std::make_shared<AheadRoom>(8U << 20U);
    Stretches stretches{pieces, room, reader()};
    EXPECT_TRUE(take(stretches, first));
    EXPECT_FALSE(take(stretches, first + 40)) << "there is no room for two";
    now += std::chrono::seconds{11};
    EXPECT_TRUE(take(stretches, first + 40));
    EXPECT_FALSE(take(stretches, first + 1)) << "it is gone";
}

TEST_F(StretchesTest, WhatTookLongToReadIsStillThereForWhoAsksThen)
{
    takes = std::chrono::seconds{40};
    Stretches stretches{pieces, room, reader()};
    EXPECT_TRUE(take(stretches, first));
    EXPECT_TRUE(take(stretches, first + 1));
    EXPECT_EQ(reads, 1);
}

TEST_F(StretchesTest, MemoryComesBackWithTheLastPieceAndAtTheEnd)
{
    {
        Stretches stretches{pieces, room, reader()};
        for (std::uint32_t i = 0; i < 32; ++i) EXPECT_TRUE(take(stretches, first + i));
        EXPECT_TRUE(room->take(64U << 20U));
        room->give_back(64U << 20U);
        EXPECT_TRUE(take(stretches, first + 32));
        EXPECT_FALSE(room->take(64U << 20U));
    }
    EXPECT_TRUE(room->take(64U << 20U));
}

TEST_F(StretchesTest, WhatCannotBeReadTogetherIsReadAlone)
{
    broken = true;
    Stretches stretches{pieces, room, reader()};
    EXPECT_FALSE(take(stretches, first));
    EXPECT_FALSE(take(stretches, first + 1));
    EXPECT_EQ(reads, 1);
    EXPECT_TRUE(room->take(64U << 20U));
}

TEST_F(StretchesTest, ManyThatAskAtOnceShareOneRead)
{
    Stretches stretches{pieces, room, reader()};
    std::atomic<int> came{0};
    std::vector<std::jthread> threads;
    for (std::uint32_t thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            for (std::uint32_t i = thread; i < 75; i += 4) came += take(stretches, first + i) ? 1 : 0;
        });
    threads.clear();
    EXPECT_EQ(came, 75);
    EXPECT_EQ(reads, 3);
}

TEST(OriginGate, LetsAsMuchAtOnceAsATwentiethOfASecond)
{
    OriginGate gate{0};
    EXPECT_TRUE(gate.lets_at_once(stretch_bytes));
    gate.set_ceiling(20ULL * stretch_bytes);
    EXPECT_TRUE(gate.lets_at_once(stretch_bytes));
    gate.set_ceiling(20ULL * stretch_bytes - 1);
    EXPECT_FALSE(gate.lets_at_once(stretch_bytes));
}

}  // namespace
}  // namespace shoal::origin
