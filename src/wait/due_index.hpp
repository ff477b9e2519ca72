// Keys ordered by the time at which a call is due for them.
#ifndef ROWLOCK_WAIT_DUE_INDEX_HPP
#define ROWLOCK_WAIT_DUE_INDEX_HPP

#include <set>
#include <utility>

#include "rowlock/clock.hpp"
#include "rowlock/lock_key.hpp"

namespace rowlock::detail {

/// The owner remembers the time of each key, whose address must not change. A key without a due
/// call is at `max`, so that `move` allocates nothing and cannot fail.
///
/// Thread-safety: none; the owner's mutex must be locked.
class due_index {
 public:
  void add(const lock_key& key) { by_time_.emplace(boot_clock::time_point::max(), &key); }
  void move(const lock_key& key, boot_clock::time_point& from, boot_clock::time_point to) {
    if (from == to) return;
    auto moved = by_time_.extract({from, &key});
    moved.value().first = to;
    by_time_.insert(std::move(moved));
    from = to;
  }
  void erase(const lock_key& key, boot_clock::time_point at) { by_time_.erase({at, &key}); }

  /// `max` if no call is due.
  [[nodiscard]] boot_clock::time_point first() const {
    return by_time_.empty() ? boot_clock::time_point::max() : by_time_.begin()->first;
  }
  [[nodiscard]] const lock_key& first_key() const { return *by_time_.begin()->second; }

 private:
  std::set<std::pair<boot_clock::time_point, const lock_key*>> by_time_;
};

}  // namespace rowlock::detail

#endif
