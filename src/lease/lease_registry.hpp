// The live leases, by deadline and by time of renewal.
#ifndef ROWLOCK_LEASE_LEASE_REGISTRY_HPP
#define ROWLOCK_LEASE_LEASE_REGISTRY_HPP

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "lease/lease_state.hpp"
#include "rowlock/clock.hpp"

namespace rowlock::detail {

/// Each lease has one time in it, which its owner remembers. All members take time logarithmic in
/// the number of leases, or less; only `add` can throw.
///
/// Thread-safety: one thread at a time.
class lease_index {
 public:
  using time = boot_clock::time_point;
  static constexpr time never = time::max();

  void add(const std::shared_ptr<lease_state>& lease, time at) {
    leases_.emplace(place{at, lease.get()}, lease);
  }
  void move(const lease_state& lease, time from, time to) {
    auto moved = leases_.extract(place{from, &lease});
    moved.key().first = to;
    leases_.insert(std::move(moved));
  }
  void remove(const lease_state& lease, time at) { leases_.erase(place{at, &lease}); }
  void clear() noexcept { leases_.clear(); }

  /// The earliest time; never where there is no lease.
  [[nodiscard]] time next() const { return leases_.empty() ? never : leases_.begin()->first.first; }
  /// Whose it is. There must be one.
  [[nodiscard]] const std::shared_ptr<lease_state>& first() const {
    return leases_.begin()->second;
  }

  [[nodiscard]] lease_states all() const {
    lease_states leases;
    leases.reserve(leases_.size());
    for (const auto& [at, lease] : leases_) leases.push_back(lease);
    return leases;
  }

 private:
  using place = std::pair<time, const lease_state*>;

  std::map<place, std::shared_ptr<lease_state>> leases_;
};

/// Invariants: (1) a lease is in the book exactly while its phase is held; (2) `valid_until` only
/// moves forward, and only before it has come.
///
/// Thread-safety: all members may be called from any thread; one thread at a time waits for overdue
/// leases, one for due ones.
class lease_registry {
 public:
  lease_registry(std::shared_ptr<time_source> time, std::chrono::milliseconds margin, bool renew);

  /// Enters a lease that was asked for at `asked`; false if its deadline has come already.
  bool add(const std::shared_ptr<lease_state>& lease, boot_clock::time_point asked);

  /// Moves the lease on from held; false if it is no longer there.
  bool end(lease_state& lease, lease_phase why);

  /// Ends them all as lost.
  lease_states end_all();

  /// The database has renewed the lease, as asked at `asked`. A deadline that has come stays:
  /// false, as for one that is no longer there.
  bool renewed(lease_state& lease, boot_clock::time_point asked);

  /// The renewal could not be made; the deadline stays where it is.
  void renew_again_at(lease_state& lease, boot_clock::time_point when);

  /// Waits until the deadline of a lease has come, and ends as lost all whose deadline has. None:
  /// the book is closed.
  lease_states wait_for_overdue();

  /// Waits until a lease is due for renewal, or until `until`, or a `wake_renewer`. Those that are
  /// due within a fifth of its ttl come with it, so that leases of one ttl come to be renewed all
  /// at once, however far apart they were granted.
  lease_states wait_for_due(boot_clock::time_point until);

  void wake_renewer();

  /// Nobody waits any longer.
  void close();
  [[nodiscard]] bool is_closed();

 private:
  /// A thread that sleeps until the next time that matters, and is called for earlier ones only. It
  /// sleeps until the time it was called for even if that lease has gone when it wakes up:
  /// otherwise each short lease would wake it.
  struct sleeper {
    std::condition_variable wakeup;
    boot_clock::time_point sleeps_until = boot_clock::time_point::min();
    boot_clock::time_point wakes_by = lease_index::never;
  };

  [[nodiscard]] boot_clock::time_point deadline(const lease_state& lease,
                                                boot_clock::time_point asked) const;
  [[nodiscard]] boot_clock::time_point next_renewal(const lease_state& lease,
                                                    boot_clock::time_point asked) const;
  // All of these with the mutex held.
  void remove(const lease_state& lease);
  void set_renewal(lease_state& lease, boot_clock::time_point when);
  lease_states take_overdue();
  lease_states take_due();
  void sleep(std::unique_lock<std::mutex>& lock, sleeper& who, boot_clock::time_point until);
  static void wake_by(sleeper& who, boot_clock::time_point when);

  const std::shared_ptr<time_source> time_;
  const std::chrono::milliseconds margin_;
  const bool renew_;

  std::mutex mutex_;
  // All below are guarded by mutex_.
  sleeper watcher_;
  sleeper renewer_;
  lease_index by_deadline_;
  lease_index by_renewal_;  // never, while a renewal is under way
  bool wakes_renewer_ = false;
  bool closed_ = false;
};

}  // namespace rowlock::detail

#endif
