// An observer that counts events for Prometheus, with prometheus-cpp.
#include <array>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "prometheus/series.hpp"
#include "prometheus/type_label.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/error.hpp"
#include "rowlock/prometheus.hpp"

namespace rowlock {

namespace {

constexpr const char* other_types = "other";

std::shared_ptr<::prometheus::Registry> required(std::shared_ptr<::prometheus::Registry> registry) {
  if (registry == nullptr) throw error{errc::misuse, "the registry is null: name one"};
  return registry;
}

detail::metric_families families_in(::prometheus::Registry& registry) {
  try {
    return detail::metric_families{registry};
  } catch (const std::exception&) {
    std::throw_with_nested(error{
        errc::misuse,
        "the registry has a metric of the name of one of rowlock's: see rowlock/prometheus.hpp "
        "for the names, and use another name, or another registry"});
  }
}

}  // namespace

/// The series of each lock type. Those of a registry stay where they are, so that only the search
/// for them needs the mutex.
class prometheus_observer::metrics {
 public:
  explicit metrics(std::shared_ptr<::prometheus::Registry> registry)
      : registry_{required(std::move(registry))}, families_{families_in(*registry_)} {}

  detail::lease_series& leases(const lock_key& key) {
    const detail::checked_lock lock{mutex_};
    auto& found = type_of(key);
    if (!found.second.leases) found.second.leases.emplace(families_, found.first);
    return *found.second.leases;
  }

  detail::transaction_series& transactions(const transaction_event& event) {
    const detail::checked_lock lock{mutex_};
    auto& found = event.work == transaction_work::retry ? no_type_ : type_of(event.key);
    auto& series = found.second.transactions.at(static_cast<std::size_t>(event.work));
    if (!series) series.emplace(families_, event.work, found.first);
    return *series;
  }

  detail::metric_families& process() noexcept { return families_; }

 private:
  struct type_series {
    std::optional<detail::lease_series> leases;
    std::array<std::optional<detail::transaction_series>, 5> transactions;
  };
  using types = std::map<std::string, type_series, std::less<>>;

  types::value_type& type_of(const lock_key& key) ROWLOCK_REQUIRES(mutex_) {
    auto label = detail::type_label(key.type);
    const auto found = types_.find(label);
    if (found != types_.end()) return *found;
    const bool is_full = named_ >= most_types;
    if (is_full || label == other_types) return *types_.try_emplace(other_types).first;
    ++named_;
    return *types_.try_emplace(std::move(label)).first;
  }

  const std::shared_ptr<::prometheus::Registry> registry_;  // destroyed after the families
  detail::metric_families families_;
  detail::checked_mutex mutex_;
  types types_ ROWLOCK_GUARDED_BY(mutex_);
  std::size_t named_ ROWLOCK_GUARDED_BY(mutex_) = 0;      // of types_ without `other`
  types::value_type no_type_ ROWLOCK_GUARDED_BY(mutex_);  // of `retry`
};

prometheus_observer::prometheus_observer(std::shared_ptr<::prometheus::Registry> registry)
    : metrics_{std::make_unique<metrics>(std::move(registry))} {}

prometheus_observer::~prometheus_observer() = default;

void prometheus_observer::acquired(const acquired_event& event) {
  metrics_->leases(event.key).grants.Increment();
}

void prometheus_observer::refused(const refused_event& event) {
  metrics_->leases(event.refusal.key).refusals.increment(event.refusal.reason);
}

void prometheus_observer::waited(const waited_event& event) {
  metrics_->leases(event.key).waits.Observe(detail::to_seconds(event.waited));
}

void prometheus_observer::expired_takeover(const expired_takeover_event& event) {
  metrics_->leases(event.key).takeovers.Increment();
}

void prometheus_observer::renewed(const renewed_event& event) {
  auto& series = metrics_->leases(event.key);
  series.renewals.Increment();
  if (event.left < event.valid_for / 3) series.late_renewals.Increment();
}

void prometheus_observer::lost(const lost_event& event) {
  auto& series = metrics_->leases(event.key);
  series.losses.increment(event.reason);
  series.holds.Observe(detail::to_seconds(event.held_for));
}

void prometheus_observer::released(const released_event& event) {
  auto& series = metrics_->leases(event.key);
  // One that is deferred may be followed by another event of the same release.
  if (event.result == release_result::deferred) return series.deferred.Increment();
  (event.result == release_result::passed_on ? series.passed_on : series.released).Increment();
  series.holds.Observe(detail::to_seconds(event.held_for));
  if (event.failed) series.failed_callbacks.Increment();
}

void prometheus_observer::fault(const fault_event& event) {
  metrics_->leases(event.key).faults.increment(event.operation);
}

void prometheus_observer::weak_setting(const weak_setting_event& /*event*/) {
  metrics_->process().weak_settings.Increment();
}

void prometheus_observer::transaction(const transaction_event& event) {
  metrics_->transactions(event).count(event);
}

void prometheus_observer::missed(std::size_t events) {
  metrics_->process().missed_events.Increment(static_cast<double>(events));
}

}  // namespace rowlock
