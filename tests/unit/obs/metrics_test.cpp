#include "common/obs/metrics.hpp"

#include <gmock/gmock.h>

namespace shoal::obs {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, AreGivenInPrometheusText)
{
    Metrics metrics{"shoal-x"};
    metrics.add("shoal_origin_bytes_total", "Bytes read.", {{"model", "a\"b\n"}}, 5);
    metrics.add("shoal_origin_bytes_total", "Bytes read.", {{"model", "a\"b\n"}}, 2);
    metrics.set("shoal_nodes", "Nodes.", {{"zone", "z"}}, 3);
    metrics.observe("shoal_fetch_seconds", "Time.", {}, 0.5);
    metrics.observe("shoal_fetch_bound_ratio", "Ratio.", {}, 1.04);
    const std::string text = metrics.text();
    EXPECT_THAT(text,
        HasSubstr("# HELP shoal_origin_bytes_total Bytes read.\n# TYPE shoal_origin_bytes_total counter\nshoal_origin_bytes_total{model=\"a\\\"b\\n\"} 7\n"));
    EXPECT_THAT(text, HasSubstr("shoal_nodes{zone=\"z\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("shoal_fetch_seconds_bucket{le=\"14400\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("shoal_fetch_bound_ratio_bucket{le=\"1.05\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("shoal_build_info{program=\"shoal-x\",version=\"" SHOAL_VERSION "\"} 1\n"));
}

TEST(Metrics, ForgetALabelSetThatIsGone)
{
    Metrics metrics{"shoal-x"};
    metrics.set("shoal_nodes", "Nodes.", {{"zone", "a"}}, 1);
    metrics.set("shoal_nodes", "Nodes.", {{"zone", "b"}}, 1);
    metrics.drop("shoal_nodes", {{"zone", "a"}});
    metrics.drop("shoal_nodes", {{"zone", "never"}});
    metrics.drop("shoal_never", {});
    EXPECT_THAT(metrics.text(), testing::AllOf(Not(HasSubstr("zone=\"a\"")), HasSubstr("zone=\"b\"")));
    metrics.set("shoal_nodes", "Nodes.", {{"zone", "a"}}, 4);
    EXPECT_THAT(metrics.text(), HasSubstr("shoal_nodes{zone=\"a\"} 4"));
}

TEST(Metrics, C68_FoldLabelSetsBeyondAThousand)
{
    Metrics metrics{"shoal-x"};
    for (int i = 0; i < 5000; ++i) metrics.add("shoal_x_total", "X.", {{"model", std::to_string(i)}}, 1);
    metrics.add("shoal_x_total", "X.", {{"model", "7"}}, 1);
    const std::string text = metrics.text();
    EXPECT_THAT(text, HasSubstr("shoal_x_total{model=\"7\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("shoal_x_total{model=\"other\"} 4000\n"));
    EXPECT_THAT(text, Not(HasSubstr("model=\"1000\"")));
    EXPECT_THAT(text, HasSubstr("shoal_metrics_folded_total{family=\"shoal_x_total\"} 4000\n"));
}

}  // namespace
}  // namespace shoal::obs
