#include "common/net/address.hpp"

#include <gtest/gtest.h>

namespace shoal::net {
namespace {

using Check = Result<void> (*)(const std::string&);

void expect_refused(Check check, const std::vector<std::string>& texts)
{
    for (const std::string& text : texts) {
        const auto passed = check(text);
        ASSERT_FALSE(passed) << text;
        EXPECT_EQ(passed.error().code, Errc::invalid);
        EXPECT_NE(passed.error().text().find("'" + text + "'"), std::string::npos) << passed.error().text();
        EXPECT_NE(passed.error().text().find("expected"), std::string::npos) << passed.error().text();
    }
}

TEST(Addresses, ListenTakesAnAddressAndAPort)
{
    const auto listen = [](const char* text) { return parse_listen(text).value(); };
    EXPECT_EQ(listen("127.0.0.1:8080").address, "127.0.0.1");
    EXPECT_EQ(listen("127.0.0.1:8080").port, 8080);
    EXPECT_EQ(listen("[::1]:0").address, "::1");
    EXPECT_EQ(listen("[fe80::1%eth0]:1").address, "fe80::1%eth0");
    EXPECT_EQ(listen(":8080").address, "");
    expect_refused(check_http, {"nonsense", "8080", "127.0.0.1", "localhost:8080", "x:y:z", "::1:8080", "[::1]", "127.0.0.1:", "127.0.0.1:65536",
                                   "127.0.0.1:-1", "127.0.0.1:80x", "[127.0.0.1]:80", "[]:80", "[fe80::1%]:80", "http://127.0.0.1:80", " :80", "256.0.0.1:80"});
    EXPECT_TRUE(check_http(""));
}

TEST(Addresses, PeersNeedTheAddressToo)
{
    EXPECT_TRUE(check_peer_listen("0.0.0.0:6881"));
    EXPECT_TRUE(check_peer_listen("[::]:6881"));
    expect_refused(check_peer_listen, {"", ":6881", "6881", "nonsense:6881"});
}

TEST(Addresses, AdvertisedTakesAnAddressWithOrWithoutAPort)
{
    const auto advertised = [](const char* text) { return parse_advertised(text).value(); };
    EXPECT_EQ(advertised("10.0.0.1").address, "10.0.0.1");
    EXPECT_EQ(advertised("10.0.0.1").port, 0);
    EXPECT_EQ(advertised("10.0.0.1:6881").port, 6881);
    EXPECT_EQ(advertised("::1").address, "::1");
    EXPECT_EQ(advertised("[::1]").address, "::1");
    EXPECT_EQ(advertised("[::1]:6881").port, 6881);
    expect_refused(check_advertised, {"x:y:z", "nonsense", "node-1", "node-1:6881", ":6881", "[::1]x", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:70000", "[]",
                                         "[]:1", "10.0.0.1,10.0.0.2", "[10.0.0.1]"});
    EXPECT_TRUE(check_advertised(""));
}

TEST(Addresses, TrackersAreHttpUrls)
{
    EXPECT_TRUE(check_tracker("http://tracker:8080"));
    EXPECT_TRUE(check_tracker("http://[::1]:8080/base"));
    expect_refused(check_tracker, {"", "nonsense", "https://tracker", "http://", "http://tracker:0", "http://tracker:port", "tracker:8080", "http://a b"});
}

}  // namespace
}  // namespace shoal::net
