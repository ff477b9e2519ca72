// The metrics of a registry, and the series of one lock type in them.
#include "prometheus/series.hpp"

#include "base/never_destroyed.hpp"

namespace rowlock::detail {

namespace {

using ::prometheus::Histogram;
using ::prometheus::Labels;
using ::prometheus::Registry;

const Histogram::BucketBoundaries& buckets() {
  static const auto& seconds =
      never_destroyed<Histogram::BucketBoundaries>(Histogram::BucketBoundaries{
          0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 3600});
  return seconds;
}

counter_family& counter(Registry& registry, const char* name, const char* help) {
  return ::prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

histogram_family& histogram(Registry& registry, const char* name, const char* help) {
  return ::prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

Labels in_mode(const char* mode, const std::string& type) {
  return {{"mode", mode}, {"type", type}};
}

Labels with(Labels labels, const char* name, const char* value) {
  labels[name] = value;
  return labels;
}

}  // namespace

metric_families::metric_families(Registry& registry)
    : grants{counter(registry, "rowlock_grants_total",
                     "Acquired leases, locked rows, moved versions and proved fences.")},
      refusals{counter(registry, "rowlock_refusals_total", "Refused attempts, by reason.")},
      transactions{
          counter(registry, "rowlock_transactions_total", "Ends of transactions, by result.")},
      renewals{counter(registry, "rowlock_renewals_total", "Renewals of leases.")},
      late_renewals{counter(registry, "rowlock_late_renewals_total",
                            "Renewals when less than a third of the lease was left.")},
      takeovers{counter(registry, "rowlock_takeovers_total",
                        "Grants that took over a lease that had run out.")},
      losses{counter(registry, "rowlock_losses_total",
                     "Leases that ended before their release, by reason.")},
      releases{counter(registry, "rowlock_releases_total", "Releases of leases, by result.")},
      failed_callbacks{counter(registry, "rowlock_failed_callbacks_total",
                               "Releases of leases after a callback that threw.")},
      faults{counter(registry, "rowlock_faults_total", "Failed calls of the store, by operation.")},
      waits{histogram(registry, "rowlock_wait_seconds",
                      "How long callers waited until the grant or the refusal.")},
      holds{histogram(registry, "rowlock_hold_seconds", "How long keys were held.")},
      missed_events{counter(registry, "rowlock_missed_events_total",
                            "Events that were dropped and are in no other metric.")
                        .Add({})},
      weak_settings{counter(registry, "rowlock_weak_settings_total",
                            "Settings of the database that weaken a promise.")
                        .Add({})} {}

const char* label_of(refusal_reason shown) {
  switch (shown) {
    case refusal_reason::held:
      return "held";
    case refusal_reason::busy:
      return "busy";
    case refusal_reason::stale:
      return "stale";
    case refusal_reason::timed_out:
      return "timed_out";
    case refusal_reason::stopped:
      return "stopped";
    case refusal_reason::already_done:
      return "already_done";
    case refusal_reason::missing:
      return "missing";
    case refusal_reason::deadlock:
      return "deadlock";
  }
  return "unknown";
}

const char* label_of(loss_reason shown) {
  switch (shown) {
    case loss_reason::ran_out:
      return "ran_out";
    case loss_reason::taken_away:
      return "taken_away";
    case loss_reason::closed:
      return "closed";
    case loss_reason::no_progress:
      return "no_progress";
  }
  return "unknown";
}

const char* label_of(release_result shown) {
  switch (shown) {
    case release_result::released:
      return "released";
    case release_result::lost:
      return "lost";
    case release_result::deferred:
      return "deferred";
    case release_result::passed_on:
      return "passed_on";
  }
  return "unknown";
}

const char* label_of(fault_operation shown) {
  switch (shown) {
    case fault_operation::acquire:
      return "acquire";
    case fault_operation::read:
      return "read";
    case fault_operation::renew:
      return "renew";
    case fault_operation::release:
      return "release";
    case fault_operation::note:
      return "note";
  }
  return "unknown";
}

const char* label_of(transaction_work shown) {
  switch (shown) {
    case transaction_work::row_lock:
      return "row_lock";
    case transaction_work::entity_lock:
      return "entity_lock";
    case transaction_work::optimistic_commit:
      return "optimistic_commit";
    case transaction_work::fence:
      return "fence";
    case transaction_work::retry:
      return "retry";
  }
  return "unknown";
}

const char* label_of(transaction_result shown) {
  switch (shown) {
    case transaction_result::granted:
      return "granted";
    case transaction_result::refused:
      return "refused";
    case transaction_result::committed:
      return "committed";
    case transaction_result::rolled_back:
      return "rolled_back";
    case transaction_result::conflict:
      return "conflict";
  }
  return "unknown";
}

lease_series::lease_series(metric_families& families, const std::string& type)
    : grants{families.grants.Add(in_mode("lease", type))},
      refusals{families.refusals, in_mode("lease", type), "reason"},
      waits{families.waits.Add(in_mode("lease", type), buckets())},
      holds{families.holds.Add(in_mode("lease", type), buckets())},
      renewals{families.renewals.Add({{"type", type}})},
      late_renewals{families.late_renewals.Add({{"type", type}})},
      takeovers{families.takeovers.Add({{"type", type}})},
      losses{families.losses, {{"type", type}}, "reason"},
      released{
          families.releases.Add({{"type", type}, {"result", label_of(release_result::released)}})},
      deferred{
          families.releases.Add({{"type", type}, {"result", label_of(release_result::deferred)}})},
      passed_on{
          families.releases.Add({{"type", type}, {"result", label_of(release_result::passed_on)}})},
      failed_callbacks{families.failed_callbacks.Add({{"type", type}})},
      faults{families.faults, {{"type", type}}, "operation"} {}

transaction_series::transaction_series(metric_families& families, transaction_work work,
                                       const std::string& type) {
  const auto labels = in_mode(label_of(work), type);
  const auto ends = [&](transaction_result result) {
    return &families.transactions.Add(with(labels, "result", label_of(result)));
  };
  const auto only_reason = [&](const char* reason) {
    return &families.refusals.Add(with(labels, "reason", reason));
  };
  conflicts_ = ends(transaction_result::conflict);
  if (work == transaction_work::retry) {
    refused_for_its_only_reason_ = only_reason("gave_up");
    return;
  }
  grants_ = &families.grants.Add(labels);
  committed_ = ends(transaction_result::committed);
  rolled_back_ = ends(transaction_result::rolled_back);
  if (work == transaction_work::fence) {
    refused_for_its_only_reason_ = only_reason("lost");
    return;
  }
  refusals_.emplace(families.refusals, labels, "reason");
  if (work == transaction_work::optimistic_commit) return;
  waits_ = &families.waits.Add(labels, buckets());
  if (work == transaction_work::row_lock) holds_ = &families.holds.Add(labels, buckets());
}

void transaction_series::count(const transaction_event& event) {
  const auto increment = [](::prometheus::Counter* counted) {
    if (counted != nullptr) counted->Increment();
  };
  const auto observe = [](::prometheus::Histogram* counted, std::chrono::microseconds time) {
    if (counted != nullptr) counted->Observe(to_seconds(time));
  };
  switch (event.result) {
    case transaction_result::granted:
      observe(waits_, event.took);
      return increment(grants_);
    case transaction_result::refused:
      observe(waits_, event.took);
      return count_refusal(event.refusal);
    case transaction_result::committed:
      observe(holds_, event.held_for);
      return increment(committed_);
    case transaction_result::rolled_back:
      observe(holds_, event.held_for);
      return increment(rolled_back_);
    case transaction_result::conflict:
      observe(holds_, event.held_for);
      return increment(conflicts_);
  }
}

void transaction_series::count_refusal(const std::optional<refusal>& why) {
  if (refused_for_its_only_reason_ != nullptr) return refused_for_its_only_reason_->Increment();
  if (refusals_ && why) refusals_->increment(why->reason);
}

}  // namespace rowlock::detail
