// Live leases, indexed by deadline, by time of renewal and by time of warning.
#ifndef ROWLOCK_LEASE_LEASE_REGISTRY_HPP
#define ROWLOCK_LEASE_LEASE_REGISTRY_HPP

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "lease/lease_state.hpp"
#include "lease/risk.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// What is due at a deadline.
struct overdue {
  lease_states lost;
  /// Lost, because their work did not get on.
  lease_states stuck;
  /// Warnings, and whether the lease is at risk now; to be given before the losses.
  std::vector<std::pair<std::shared_ptr<risk>, bool>> warnings;

  [[nodiscard]] bool is_empty() const noexcept {
    return lost.empty() && stuck.empty() && warnings.empty();
  }
};

/// Invariants: (1) a lease is in the registry exactly while its phase is held; (2) `valid_until`
/// only moves forward, and never after it has passed; (3) at most one renewal of a lease is under
/// way. Without (3) a renewal could shorten in the database what another one has extended.
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

  /// Waits until no renewal of the lease is under way, and begins one. False if the lease is no
  /// longer held.
  bool begin_renewal(lease_state& lease);

  /// Ends a renewal with this ttl that was requested at `requested_at`. False if the lease is no
  /// longer held or its deadline has passed: a passed deadline does not move.
  bool renewed(lease_state& lease, boot_clock::time_point requested_at,
               std::chrono::microseconds ttl);

  /// Ends a renewal that failed, and schedules another one; the deadline does not move.
  void renew_again_at(lease_state& lease, boot_clock::time_point when);
  /// The same after a tenth of its ttl, at most a second.
  void renew_soon_again(lease_state& lease);

  /// Warns from now on before the deadline of the lease, as long as it is held.
  void add_risk(lease_state& lease, const std::shared_ptr<risk>& added);
  void remove_risk(lease_state& lease, const std::shared_ptr<risk>& removed) noexcept;

  /// From now on `take_ask_reads` returns the lease: soon, after each renewal, and after
  /// `may_be_asked`, until it is asked.
  void listen_to_asks(lease_state& lease);
  /// A hint that the holder of the key was asked to yield; null: of any key.
  void may_be_asked(const lock_key* key);
  [[nodiscard]] lease_states take_ask_reads();
  /// Stores the request; false if the lease is no longer held, or was asked before.
  bool asked(lease_state& lease, const ask_mark& how);
  [[nodiscard]] std::optional<ask_mark> asked(const lease_state& lease);

  /// Waits for the next deadline or warning, and ends all overdue leases as lost. Returns none once
  /// the registry is closed.
  overdue wait_for_overdue();

  /// Waits until a lease is due for renewal, until `until`, or for `wake_renewer`. Leases due
  /// within the next fifth of the first one's ttl are returned with it. Leases of one ttl are
  /// therefore soon renewed together, however far apart they were granted. Begins the renewals of
  /// what it returns.
  lease_states wait_for_due(boot_clock::time_point until);

  void wake_renewer();

  /// Ends all waits.
  void close();
  [[nodiscard]] bool is_closed();

 private:
  static constexpr auto never = boot_clock::time_point::max();

  /// Entries ordered by a time, which the entry remembers. Each occurs once.
  template <class Entry, class Value>
  using index = std::map<std::pair<boot_clock::time_point, const Entry*>, Value>;
  using leases_by_time = index<lease_state, std::shared_ptr<lease_state>>;
  struct risk_of {
    const lease_state* lease;
    std::shared_ptr<risk> warning;
  };
  using risks_by_time = index<risk, risk_of>;

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
  /// The earliest time; `never` if there is no entry.
  static boot_clock::time_point first_in(const auto& entries);
  /// Allocates nothing, so that it cannot fail.
  template <class Entry, class Value>
  static void move(index<Entry, Value>& entries, const Entry& entry, boot_clock::time_point from,
                   boot_clock::time_point to);
  void remove(const lease_state& lease) ROWLOCK_REQUIRES(mutex_);
  static boot_clock::duration soon_again(const lease_state& lease);
  void set_renewal(lease_state& lease, boot_clock::time_point when) ROWLOCK_REQUIRES(mutex_);
  void end_renewal(lease_state& lease) ROWLOCK_REQUIRES(mutex_);
  void look_at(risk& warning, boot_clock::time_point when) ROWLOCK_REQUIRES(mutex_);
  /// After the deadline moved.
  void look_at_risks(const lease_state& lease) ROWLOCK_REQUIRES(mutex_);
  void wake_renewer_now() ROWLOCK_REQUIRES(mutex_);
  overdue take_overdue() ROWLOCK_REQUIRES(mutex_);
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
  std::condition_variable renewal_ended_;
  leases_by_time by_deadline_ ROWLOCK_GUARDED_BY(mutex_);
  leases_by_time by_renewal_ ROWLOCK_GUARDED_BY(mutex_);  // at `never` while one is under way
  risks_by_time by_warning_ ROWLOCK_GUARDED_BY(mutex_);   // at `never` once the warning is given
  bool wakes_renewer_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool has_ask_reads_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::detail

#endif
