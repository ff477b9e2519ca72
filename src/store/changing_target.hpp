// Where a store connects to, and where to after a login was refused.
#ifndef ROWLOCK_STORE_CHANGING_TARGET_HPP
#define ROWLOCK_STORE_CHANGING_TARGET_HPP

#include <exception>
#include <functional>
#include <utility>

#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

/// Thread-safety: all members may be called from any thread.
template <class Target>
class changing_target {
 public:
  /// `renew` returns what to connect to from then on; it may throw: then nothing changes.
  changing_target(Target first, std::function<Target(const Target&)> renew)
      : renew_{std::move(renew)}, to_{std::move(first)} {}

  /// Returns the result of `open`, which throws `login_refused`. It is called once more for another
  /// target, but not for an equal one: a refused login costs the user one of the attempts that a
  /// server may count.
  template <class Open, class IsSame>
  auto opened(const Open& open, const IsSame& is_same) {
    const auto current = get();
    try {
      return open(current);
    } catch (const login_refused&) {
      const auto next = renewed();
      if (is_same(next, current)) throw;
      return open(next);
    }
  }

 private:
  Target get() {
    const checked_lock lock{mutex_};
    return to_;
  }
  Target renewed() {
    const checked_lock lock{mutex_};
    try {
      to_ = renew_(to_);
    } catch (const std::exception&) {  // there is no new one: the refusal is what matters
    }
    return to_;
  }

  const std::function<Target(const Target&)> renew_;
  checked_mutex mutex_;
  Target to_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::detail

#endif
