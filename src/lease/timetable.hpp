// Leases in the order of the times at which something has to be done about them.
#ifndef ROWLOCK_LEASE_TIMETABLE_HPP
#define ROWLOCK_LEASE_TIMETABLE_HPP

#include <map>
#include <memory>
#include <utility>

#include "lease/lease_state.hpp"
#include "rowlock/boot_clock.hpp"

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

}  // namespace rowlock::detail

#endif
