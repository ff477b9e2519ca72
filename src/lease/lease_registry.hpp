// Live leases, indexed by deadline and by time of renewal.
#ifndef ROWLOCK_LEASE_LEASE_REGISTRY_HPP
#define ROWLOCK_LEASE_LEASE_REGISTRY_HPP

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <utility>

#include "lease/lease_state.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// Invariants: (1) a lease is in the registry exactly while its phase is held; (2) `valid_until`
/// only moves forward, and never after it has passed.
///
/// Thread-safety: all members may be called from any thread. At most one thread waits for overdue
/// leases, and one for due leases.
class lease_registry {
 public:
  lease_registry(std::shared_ptr<time_source> time, std::chrono::milliseconds margin, bool renew);

  /// Adds a lease that was requested at `requested_at`; false if its deadline has passed.
  bool add(const std::shared_ptr<lease_state>& lease, boot_clock::time_point requested_at);

  /// Moves the lease from held to `why`; false if it was no longer held.
  bool end(lease_state& lease, lease_phase why);

  /// Ends all leases as lost, and returns them.
  lease_states end_all();

  /// Records a renewal that was requested at `requested_at`. False if the lease is no longer held
  /// or its deadline has passed: a passed deadline does not move.
  bool renewed(lease_state& lease, boot_clock::time_point requested_at);

  /// Schedules another renewal after a failed one; the deadline does not move.
  void renew_again_at(lease_state& lease, boot_clock::time_point when);

  /// Waits for the next deadline to pass, and ends all overdue leases as lost. Returns none once
  /// the registry is closed.
  lease_states wait_for_overdue();

  /// Waits until a lease is due for renewal, until `until`, or for `wake_renewer`. Leases due
  /// within the next fifth of the first one's ttl are returned with it. Leases of one ttl are
  /// therefore soon renewed together, however far apart they were granted.
  lease_states wait_for_due(boot_clock::time_point until);

  void wake_renewer();

  /// Ends all waits.
  void close();
  [[nodiscard]] bool is_closed();

 private:
  static constexpr auto never = boot_clock::time_point::max();

  /// Leases ordered by a time, which the lease remembers. Each occurs once.
  using index =
      std::map<std::pair<boot_clock::time_point, const lease_state*>, std::shared_ptr<lease_state>>;

  /// A thread that sleeps until its next deadline; a new lease wakes it only for an earlier one. It
  /// keeps an early wake-up time even if that lease ends first. Otherwise every short lease would
  /// wake it again.
  struct sleeper {
    std::condition_variable wakeup;
    boot_clock::time_point sleeps_until = boot_clock::time_point::min();
    boot_clock::time_point wakes_by = never;
  };

  [[nodiscard]] boot_clock::time_point deadline(const lease_state& lease,
                                                boot_clock::time_point requested_at) const;
  [[nodiscard]] boot_clock::time_point next_renewal(const lease_state& lease,
                                                    boot_clock::time_point requested_at) const;
  /// The earliest time; `never` if there is no lease.
  static boot_clock::time_point first_in(const index& leases);
  /// Allocates nothing, so that it cannot fail.
  static void move(index& leases, const lease_state& lease, boot_clock::time_point from,
                   boot_clock::time_point to);
  void remove(const lease_state& lease) ROWLOCK_REQUIRES(mutex_);
  void set_renewal(lease_state& lease, boot_clock::time_point when) ROWLOCK_REQUIRES(mutex_);
  lease_states take_overdue() ROWLOCK_REQUIRES(mutex_);
  lease_states take_due() ROWLOCK_REQUIRES(mutex_);
  void sleep(checked_lock& lock, sleeper& sleeping, boot_clock::time_point until)
      ROWLOCK_REQUIRES(mutex_);
  static void wake_by(sleeper& sleeping, boot_clock::time_point when);

  const std::shared_ptr<time_source> time_;
  const std::chrono::milliseconds margin_;
  const bool renew_;

  checked_mutex mutex_;
  sleeper watcher_ ROWLOCK_GUARDED_BY(mutex_);
  sleeper renewer_ ROWLOCK_GUARDED_BY(mutex_);
  index by_deadline_ ROWLOCK_GUARDED_BY(mutex_);
  index by_renewal_ ROWLOCK_GUARDED_BY(mutex_);  // at `never` while its renewal is under way
  bool wakes_renewer_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::detail

#endif
