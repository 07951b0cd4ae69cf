// The program's numbers in Prometheus' text format. Any thread.
#pragma once

#include <map>
#include <memory>
#include <string>

namespace shoal::obs {

using Labels = std::map<std::string, std::string>;

class Metrics {
public:
    explicit Metrics(const std::string& program);  // with shoal_build_info{program,version}
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    void add(const std::string& counter, const std::string& help, const Labels& labels, double amount);
    void set(const std::string& gauge, const std::string& help, const Labels& labels, double value);
    void drop(const std::string& gauge, const Labels& labels);                                                // a label set that is gone
    void observe(const std::string& histogram, const std::string& help, const Labels& labels, double value);  // buckets: 1 ms to 4 h
    [[nodiscard]] std::string text() const;                                                                   // text/plain; version=0.0.4

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::obs
