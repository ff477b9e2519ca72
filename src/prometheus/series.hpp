// The metrics of a registry, and the series of one lock type in them.
#ifndef ROWLOCK_PROMETHEUS_SERIES_HPP
#define ROWLOCK_PROMETHEUS_SERIES_HPP

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>
#include <prometheus/registry.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "rowlock/lease.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/outcome.hpp"

namespace rowlock::detail {

using counter_family = ::prometheus::Family<::prometheus::Counter>;
using histogram_family = ::prometheus::Family<::prometheus::Histogram>;

/// The metrics, found in the registry or added to it. It must outlive them.
struct metric_families {
  explicit metric_families(::prometheus::Registry& registry);

  counter_family& grants;
  counter_family& refusals;
  counter_family& transactions;
  counter_family& renewals;
  counter_family& late_renewals;
  counter_family& takeovers;
  counter_family& losses;
  counter_family& releases;
  counter_family& failed_callbacks;
  counter_family& faults;
  histogram_family& waits;
  histogram_family& holds;
  ::prometheus::Counter& missed_events;
  ::prometheus::Counter& weak_settings;
};

/// The values of labels.
const char* label_of(refusal_reason shown);
const char* label_of(loss_reason shown);
const char* label_of(release_result shown);
const char* label_of(fault_operation shown);
const char* label_of(transaction_work shown);
const char* label_of(transaction_result shown);

/// A counter for each of the first `count` values of an enumeration. All begin at 0 together, since
/// `increase()` does not see a series that begins at 1.
template <class Enumeration, std::size_t count>
class counters_by {
 public:
  counters_by(counter_family& family, ::prometheus::Labels labels, const char* name) {
    for (std::size_t i = 0; i < count; ++i) {
      labels[name] = label_of(static_cast<Enumeration>(i));
      all_.at(i) = &family.Add(labels);
    }
  }

  /// Of a value beyond `count` nothing is counted.
  void increment(Enumeration which) {
    const auto i = static_cast<std::size_t>(which);
    if (i < count) all_.at(i)->Increment();
  }

 private:
  std::array<::prometheus::Counter*, count> all_{};
};

/// Of the leases of one lock type.
class lease_series {
 public:
  lease_series(metric_families& families, const std::string& type);

  ::prometheus::Counter& grants;
  counters_by<refusal_reason, 7> refusals;  // none is a deadlock
  ::prometheus::Histogram& waits;
  ::prometheus::Histogram& holds;
  ::prometheus::Counter& renewals;
  ::prometheus::Counter& late_renewals;
  ::prometheus::Counter& takeovers;
  counters_by<loss_reason, 4> losses;
  ::prometheus::Counter& released;
  ::prometheus::Counter& deferred;
  ::prometheus::Counter& passed_on;
  ::prometheus::Counter& failed_callbacks;
  counters_by<fault_operation, 5> faults;
};

/// Of one kind of transaction, and one lock type.
class transaction_series {
 public:
  transaction_series(metric_families& families, transaction_work work, const std::string& type);

  void count(const transaction_event& event);

 private:
  void count_refusal(const std::optional<refusal>& why);

  // What this kind of transaction never has is null.
  ::prometheus::Counter* grants_ = nullptr;
  std::optional<counters_by<refusal_reason, 8>> refusals_;
  ::prometheus::Counter* refused_for_its_only_reason_ = nullptr;
  ::prometheus::Counter* committed_ = nullptr;
  ::prometheus::Counter* rolled_back_ = nullptr;
  ::prometheus::Counter* conflicts_ = nullptr;
  ::prometheus::Histogram* waits_ = nullptr;
  ::prometheus::Histogram* holds_ = nullptr;
};

inline double to_seconds(std::chrono::microseconds time) {
  return std::chrono::duration<double>{time}.count();
}

}  // namespace rowlock::detail

#endif
