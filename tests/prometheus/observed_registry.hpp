// A registry of prometheus-cpp with an observer, and what it exposes.
#ifndef ROWLOCK_TESTS_PROMETHEUS_OBSERVED_REGISTRY_HPP
#define ROWLOCK_TESTS_PROMETHEUS_OBSERVED_REGISTRY_HPP

#include <prometheus/registry.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "rowlock/prometheus.hpp"

namespace rowlock::tests {

using labels = std::map<std::string, std::string>;

struct histogram_values {
  std::uint64_t count = 0;
  double sum = 0;
};

class observed_registry {
 public:
  [[nodiscard]] const std::shared_ptr<::prometheus::Registry>& registry() const {
    return registry_;
  }
  [[nodiscard]] const std::shared_ptr<prometheus_observer>& observer() const { return observer_; }

  /// Of the series with just these labels. Throws if there is none.
  [[nodiscard]] double counter(const std::string& name, const labels& wanted = {}) const;
  [[nodiscard]] histogram_values histogram(const std::string& name, const labels& wanted) const;
  /// Returns once the counter has that value.
  void await_counter(const std::string& name, const labels& wanted, double value) const;

  /// What Prometheus reads.
  [[nodiscard]] std::string text() const;
  /// The names of all metrics.
  [[nodiscard]] std::set<std::string> names() const;
  /// The values of the label in all series.
  [[nodiscard]] std::set<std::string> values_of(const std::string& label) const;

  /// Gives the observer an event of every kind, with keys of that type.
  void observe_each_event(const std::string& type) const;

 private:
  std::shared_ptr<::prometheus::Registry> registry_ = std::make_shared<::prometheus::Registry>();
  std::shared_ptr<prometheus_observer> observer_ = std::make_shared<prometheus_observer>(registry_);
};

}  // namespace rowlock::tests

#endif
