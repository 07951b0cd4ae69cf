// The program's numbers in Prometheus' text format. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace shoal::obs {

using Labels = std::map<std::string, std::string>;

inline constexpr std::size_t max_label_sets = 1000;  // of a family; further ones count as one whose values are all "other", and in shoal_metrics_folded_total

class Metrics {
public:
    explicit Metrics(const std::string& program);  // with shoal_build_info{program,version}
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    void add(const std::string& counter, const std::string& help, const Labels& labels, double amount);
    void set(const std::string& gauge, const std::string& help, const Labels& labels, double value);
    void drop(const std::string& gauge, const Labels& labels);  // a label set that is gone
    void observe(const std::string& histogram, const std::string& help, const Labels& labels,
        double value);                       // buckets: 1 ms to 4 h; of a name that ends in _ratio 0.5 to 100
    [[nodiscard]] std::string text() const;  // text/plain; version=0.0.4

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::obs
