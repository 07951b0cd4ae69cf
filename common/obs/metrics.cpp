#include "common/obs/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>

namespace shoal::obs {
namespace {

const prometheus::Histogram::BucketBoundaries seconds{
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400};
const prometheus::Histogram::BucketBoundaries ratios{0.5, 1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.35, 1.5, 2, 3, 5, 10, 100};

// The label sets that a family has, and the one that stands for all beyond the bound.
template <typename Metric>
struct Bounded {
    prometheus::Family<Metric>* family = nullptr;
    std::map<Labels, Metric*> metrics;
};

Labels folded(const Labels& labels)
{
    Labels other;
    for (const auto& [key, value] : labels) other[key] = "other";
    return other;
}

}  // namespace

struct Metrics::Impl {
    mutable std::mutex mutex;  // any thread counts
    prometheus::Registry registry;
    std::map<std::string, Bounded<prometheus::Counter>> counters;
    std::map<std::string, Bounded<prometheus::Gauge>> gauges;
    std::map<std::string, Bounded<prometheus::Histogram>> histograms;

    template <typename Metric, typename... Args>
    Metric& metric(std::map<std::string, Bounded<Metric>>& families, prometheus::detail::Builder<Metric> builder, const std::string& name,
        const std::string& help, const Labels& labels, const Args&... args)
    {
        Bounded<Metric>& bounded = families[name];
        if (bounded.family == nullptr) bounded.family = &builder.Name(name).Help(help).Register(registry);
        if (const auto known = bounded.metrics.find(labels); known != bounded.metrics.end()) return *known->second;
        const bool fold = bounded.metrics.size() >= max_label_sets;
        if (fold) count_folded(name);
        const Labels kept = fold ? folded(labels) : labels;
        Metric& made = bounded.family->Add(kept, args...);
        if (!fold) bounded.metrics.emplace(kept, &made);
        return made;
    }

    void count_folded(const std::string& name)
    {
        metric(counters, prometheus::BuildCounter(), "shoal_metrics_folded_total", "Samples whose labels were folded into \"other\", by family.",
            {{"family", name}})
            .Increment();
    }
};

Metrics::Metrics(const std::string& program) : impl_{std::make_unique<Impl>()}
{
    set("shoal_build_info", "Program and version that run here.", {{"program", program}, {"version", SHOAL_VERSION}}, 1);
}

Metrics::~Metrics() = default;

void Metrics::add(const std::string& counter, const std::string& help, const Labels& labels, double amount)
{
    const std::lock_guard lock{impl_->mutex};
    impl_->metric(impl_->counters, prometheus::BuildCounter(), counter, help, labels).Increment(amount);
}

void Metrics::set(const std::string& gauge, const std::string& help, const Labels& labels, double value)
{
    const std::lock_guard lock{impl_->mutex};
    impl_->metric(impl_->gauges, prometheus::BuildGauge(), gauge, help, labels).Set(value);
}

void Metrics::drop(const std::string& gauge, const Labels& labels)
{
    const std::lock_guard lock{impl_->mutex};
    const auto family = impl_->gauges.find(gauge);
    if (family == impl_->gauges.end()) return;
    const auto metric = family->second.metrics.find(labels);
    if (metric == family->second.metrics.end()) return;
    family->second.family->Remove(metric->second);
    family->second.metrics.erase(metric);
}

void Metrics::observe(const std::string& histogram, const std::string& help, const Labels& labels, double value)
{
    const std::lock_guard lock{impl_->mutex};
    const auto& buckets = histogram.ends_with("_ratio") ? ratios : seconds;
    impl_->metric(impl_->histograms, prometheus::BuildHistogram(), histogram, help, labels, buckets).Observe(value);
}

std::string Metrics::text() const
{
    const std::lock_guard lock{impl_->mutex};
    return prometheus::TextSerializer{}.Serialize(impl_->registry.Collect());
}

}  // namespace shoal::obs
