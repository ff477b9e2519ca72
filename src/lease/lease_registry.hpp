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
class timetable {
 public:
  using time = boot_clock::time_point;
  static constexpr time never = time::max();

  void add(const std::shared_ptr<kept_lease>& lease, time at) {
    leases_.emplace(place{at, lease.get()}, lease);
  }
  void move(const kept_lease& lease, time from, time to) {
    auto moved = leases_.extract(place{from, &lease});
    moved.key().first = to;
    leases_.insert(std::move(moved));
  }
  void remove(const kept_lease& lease, time at) { leases_.erase(place{at, &lease}); }
  void clear() noexcept { leases_.clear(); }

  /// The earliest time; never where there is no lease.
  [[nodiscard]] time next() const { return leases_.empty() ? never : leases_.begin()->first.first; }
  /// Whose it is. There must be one.
  [[nodiscard]] const std::shared_ptr<kept_lease>& first() const { return leases_.begin()->second; }

  [[nodiscard]] kept_leases all() const {
    kept_leases leases;
    leases.reserve(leases_.size());
    for (const auto& [at, lease] : leases_) leases.push_back(lease);
    return leases;
  }

 private:
  using place = std::pair<time, const kept_lease*>;

  std::map<place, std::shared_ptr<kept_lease>> leases_;
};

/// Invariants: (1) a lease is in the book exactly while its phase is held; (2) `valid_until` only
/// moves forward, and only before it has come.
///
/// Thread-safety: all members may be called from any thread; one thread at a time waits for overdue
/// leases, one for due ones.
class lease_book {
 public:
  lease_book(std::shared_ptr<time_source> time, std::chrono::milliseconds margin, bool renew);

  /// Enters a lease that was asked for at `asked`; false if its deadline has come already.
  bool add(const std::shared_ptr<kept_lease>& lease, boot_clock::time_point asked);

  /// Moves the lease on from held; false if it is no longer there.
  bool end(kept_lease& lease, lease_phase why);

  /// Ends them all as lost.
  kept_leases end_all();

  /// The database has renewed the lease, as asked at `asked`. A deadline that has come stays:
  /// false, as for one that is no longer there.
  bool renewed(kept_lease& lease, boot_clock::time_point asked);

  /// The renewal could not be made; the deadline stays where it is.
  void renew_again_at(kept_lease& lease, boot_clock::time_point when);

  /// Waits until the deadline of a lease has come, and ends as lost all whose deadline has. None:
  /// the book is closed.
  kept_leases wait_for_overdue();

  /// Waits until a lease is due for renewal, or until `until`, or a `wake_renewer`. Those that are
  /// due within a fifth of its ttl come with it, so that leases of one ttl come to be renewed all
  /// at once, however far apart they were granted.
  kept_leases wait_for_due(boot_clock::time_point until);

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
    boot_clock::time_point called_for = timetable::never;
  };

  [[nodiscard]] boot_clock::time_point deadline(const kept_lease& lease,
                                                boot_clock::time_point asked) const;
  [[nodiscard]] boot_clock::time_point next_renewal(const kept_lease& lease,
                                                    boot_clock::time_point asked) const;
  // All of these with the mutex held.
  void remove(const kept_lease& lease);
  void set_renewal(kept_lease& lease, boot_clock::time_point when);
  kept_leases take_overdue();
  kept_leases take_due();
  void sleep(std::unique_lock<std::mutex>& lock, sleeper& who, boot_clock::time_point until);
  static void call(sleeper& who, boot_clock::time_point when);

  const std::shared_ptr<time_source> time_;
  const std::chrono::milliseconds margin_;
  const bool renew_;

  std::mutex mutex_;
  // All below are guarded by mutex_.
  sleeper watcher_;
  sleeper renewer_;
  timetable by_deadline_;
  timetable by_renewal_;  // never, while a renewal is under way
  bool renewer_is_called_ = false;
  bool closed_ = false;
};

}  // namespace rowlock::detail

#endif
