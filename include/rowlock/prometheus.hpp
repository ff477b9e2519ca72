// An observer that counts events for Prometheus, with prometheus-cpp.
#ifndef ROWLOCK_PROMETHEUS_HPP
#define ROWLOCK_PROMETHEUS_HPP

#include <cstddef>
#include <memory>

#include "rowlock/detail/export.hpp"
#include "rowlock/observer.hpp"

namespace prometheus {
class Registry;
}

namespace rowlock {

/// Counts the events of leases and transactions in a registry of prometheus-cpp. Set it as
/// `lock_options::observer`, and give it to a `transaction_observation` for transactions.
///
/// Counters:
///
///     rowlock_grants_total{mode,type}               acquisitions, locks, versions moved, fences
///     rowlock_refusals_total{mode,reason,type}      refused attempts
///     rowlock_transactions_total{mode,result,type}  ends of transactions
///     rowlock_renewals_total{type}                  renewals of leases
///     rowlock_late_renewals_total{type}             of these, the late ones
///     rowlock_takeovers_total{type}                 grants that took over a lease that ran out
///     rowlock_losses_total{reason,type}             leases that ended before their release
///     rowlock_releases_total{result,type}           releases of leases
///     rowlock_failed_callbacks_total{type}          releases after a callback that threw
///     rowlock_faults_total{operation,type}          failed calls of the store
///     rowlock_missed_events_total                   events that no metric has: a queue was full
///     rowlock_weak_settings_total                   settings that weaken a promise
///
/// Histograms, in seconds, with buckets from 1 ms to 1 h:
///
///     rowlock_wait_seconds{mode,type}  how long callers waited, whether granted or refused
///     rowlock_hold_seconds{mode,type}  how long keys were held
///
/// A grant of several keys counts each lease, and once under `row_lock`. `rowlock_wait_seconds` has
/// the time to a grant or refusal: of a lease attempt if it was in the wait queue (one of several
/// keys never is), and of `row_lock` and `entity_lock` always, their statement included. A hold of
/// a lease lasts from the request of its acquisition to its release or loss; that of
/// `with_row_lock`, from the grant to the end of the transaction. The hold and the failed callback
/// of an unconfirmed release (`deferred`) are counted when it is confirmed. A renewal is late if
/// less than a third of `renewed_event::valid_for` was left when its answer came. Leases are
/// renewed when a third of the ttl is over, so one has failed before, or took long.
///
/// Labels, each with a fixed number of values:
///
///     mode       lease, row_lock, entity_lock, optimistic_commit, fence, retry
///     reason     of refusals: held, busy, stale, timed_out, stopped, already_done, missing,
///                deadlock; in mode fence only lost, in mode retry only gave_up
///                of losses: ran_out, taken_away, closed
///     result     of transactions: committed, rolled_back, conflict
///                of releases: released, deferred
///     operation  acquire, read, renew, release, note
///     type       the type of the key; of several keys, that of the first
///
/// A `type` has no scope, since there may be one for each tenant, and no `#` with a number
/// (`semaphore`). For a row of the application it is the table's name; for `retry`, which knows no
/// key, it is empty. A byte outside `A-Z a-z 0-9 _ . : -` becomes `_`, and a type is cut after 128
/// bytes. The first 100 types of an observer keep their names. All others are `other`, as is a type
/// of that name. So an observer makes at most 15,500 series; a type with leases only makes 58. All
/// series of a type and mode begin at 0 with their first event, so that `increase()` sees the first
/// loss. Counters begin anew with the process.
///
/// Thread-safe: one object serves all lock_tables of a process. Two observers of one registry count
/// in the same series, with 100 types each. Lifetime: shares the registry, which keeps the series
/// when the observer is gone. Cost: for each event, a search among the types under a mutex and a
/// few additions, in the thread that calls the observer; no round trip.
class ROWLOCK_EXPORT prometheus_observer final : public observer {
 public:
  static constexpr std::size_t most_types = 100;

  /// Adds the metrics to the registry. Throws `error` (misuse) for no registry, and if it already
  /// has a metric of one of these names that is of another kind or that it does not merge.
  explicit prometheus_observer(std::shared_ptr<::prometheus::Registry> registry);
  ~prometheus_observer() override;

  void acquired(const acquired_event& event) override;
  void refused(const refused_event& event) override;
  void waited(const waited_event& event) override;
  void expired_takeover(const expired_takeover_event& event) override;
  void renewed(const renewed_event& event) override;
  void lost(const lost_event& event) override;
  void released(const released_event& event) override;
  void fault(const fault_event& event) override;
  void weak_setting(const weak_setting_event& event) override;
  void transaction(const transaction_event& event) override;
  void missed(std::size_t events) override;

 private:
  class metrics;
  std::unique_ptr<metrics> metrics_;
};

}  // namespace rowlock

#endif
