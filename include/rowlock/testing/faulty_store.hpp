// A store that injects faults, for tests.
#ifndef ROWLOCK_TESTING_FAULTY_STORE_HPP
#define ROWLOCK_TESTING_FAULTY_STORE_HPP

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/detail/export.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock {

/// For tests of what an application does when the database is away, slow, or gone in the middle of
/// a call. Put it over a `memory_store` or any other store. Faults happen in the order in which
/// they were added, one for each call from any thread. Background calls (renewals, deferred
/// releases, waits) count too, so name the call that is meant. Thread-safe.
class ROWLOCK_EXPORT faulty_store final : public passing_store {
 public:
  /// The calls that a fault may be for.
  enum class call {
    any,
    acquire,
    renew,
    release,  ///< also `handoff`
    read,     ///< also `list`, `history`, `inspect`, `now` and `weak_settings`
    operate,  ///< the others
  };

  /// `time` is the clock of slow calls.
  explicit faulty_store(store& target, std::shared_ptr<time_source> time = system_time());

  /// The next such call is not made and throws `error` (unavailable).
  void next_is_unavailable(call which = call::any);
  /// The next such call is made, but throws `error` (outcome_unknown) instead of its answer.
  void next_is_in_doubt(call which = call::any);
  /// The next such call takes longer by `delay`.
  void next_is_slow(std::chrono::milliseconds delay, call which = call::any);
  /// The number of faults that have not happened yet.
  [[nodiscard]] std::size_t pending() const;

 protected:
  void pass(store_call made, work_on_store work) override;

 private:
  struct fault {
    call which;
    std::function<void()> before;
    std::function<void()> after;
  };

  void add(fault next);
  fault take(call made);
  static call kind_of(store_call made);

  std::shared_ptr<time_source> time_;
  mutable detail::checked_mutex mutex_;
  std::deque<fault> faults_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock

#endif
