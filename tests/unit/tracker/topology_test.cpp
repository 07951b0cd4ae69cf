#include "tracker/topology.hpp"

#include <gmock/gmock.h>

namespace shoal::tracker {
namespace {

using ::testing::HasSubstr;

Place at(const Topology& topology, std::string_view address, const std::string& node = "n")
{
    return topology.find(node, parse_address(address));
}

TEST(Topology, TheLongestPrefixWinsAndANamedNodeGoesBeforeAll)
{
    const auto topology = Topology::parse("# ours\n10.0.0.0/8 eu\n10.1.0.0/16 eu-a r7  # a rack\n10.1.2.3 eu-b\nfd00::/16 us\ngpu-1 asia r1\n\n", "t").value();
    EXPECT_EQ(at(topology, "10.9.9.9"), (Place{"eu", ""}));
    EXPECT_EQ(at(topology, "10.1.9.9"), (Place{"eu-a", "r7"}));
    EXPECT_EQ(at(topology, "10.1.2.3"), (Place{"eu-b", ""}));
    EXPECT_EQ(at(topology, "fd00::1"), (Place{"us", ""}));
    EXPECT_EQ(at(topology, "192.168.0.1"), Place{});
    EXPECT_EQ(at(topology, "10.1.2.3", "gpu-1"), (Place{"asia", "r1"}));
}

TEST(Topology, AnIpv6AddressThatMapsAnIpv4OneIsThatOne)
{
    const auto topology = Topology::parse("10.0.0.0/8 eu\n", "t").value();
    EXPECT_EQ(at(topology, "::ffff:10.0.0.1").zone, "eu");
    EXPECT_EQ(endpoint(*parse_address("::ffff:10.0.0.1"), 80), "10.0.0.1:80");
    EXPECT_EQ(endpoint(*parse_address("fd00::0001"), 80), "[fd00::1]:80");
}

TEST(Topology, APrefixThatEndsInsideAByteMatchesItsBitsOnly)
{
    const auto topology = Topology::parse("10.0.64.0/18 a\n", "t").value();
    EXPECT_EQ(at(topology, "10.0.127.255").zone, "a");
    EXPECT_EQ(at(topology, "10.0.128.0").zone, "");
    EXPECT_EQ(at(topology, "10.0.63.255").zone, "");
}

TEST(Topology, AWrongLineIsNamed)
{
    for (const std::string wrong : {"10.0.0.0/8", "10.0.0.0/33 z", "10.0.0.0/ z", "a/b z", "n z r x", "n z\nn y"}) {
        const auto topology = Topology::parse("ok z\n" + wrong + "\n", "places.txt");
        ASSERT_FALSE(topology) << wrong;
        EXPECT_EQ(topology.error().code, Errc::invalid);
        EXPECT_THAT(topology.error().message, HasSubstr("places.txt line "));
    }
}

TEST(Address, OnlyAddressesAreAddresses)
{
    for (const auto* text : {"", "localhost", "10.0.0", "10.0.0.1:80", "[::1]", "fe80::1%eth0", "10.0.0.256"}) EXPECT_FALSE(parse_address(text)) << text;
    EXPECT_TRUE(parse_address("0.0.0.0")->is_unspecified());
    EXPECT_TRUE(parse_address("::")->is_unspecified());
}

}  // namespace
}  // namespace shoal::tracker
