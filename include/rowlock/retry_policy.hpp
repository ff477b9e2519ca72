// How often and how long to try again: for waiting and for retrying alike.
#ifndef ROWLOCK_RETRY_POLICY_HPP
#define ROWLOCK_RETRY_POLICY_HPP

#include <chrono>
#include <concepts>
#include <optional>
#include <stop_token>
#include <utility>

namespace rowlock {

/// The first limit that is reached ends the trying. At least one try is always made.
///
/// Those of one process who wait for a key stand in line, each with its own policy: to find others
/// there, or to have heard that another process has the key, is the first try of one that comes;
/// after each of its pauses the next look at the row, which all share, is another; looks come at
/// least once in 0.6 s when they are due. A look at a row that another process was just heard to
/// take comes after a second, unless somebody's `attempts` are limited.
struct retry_policy {
  /// Tries in all, the first one included; none means no limit.
  std::optional<unsigned> attempts = std::nullopt;
  /// The pause before the second try, and the shortest of all.
  std::chrono::milliseconds first_pause{10};
  /// No pause is longer.
  std::chrono::milliseconds longest_pause{1000};
  /// True: each pause is drawn between `first_pause` and three times the last one ("decorrelated
  /// jitter", AWS Architecture Blog, 2015), so that those who collided do not collide again.
  /// False: each pause is twice the last one.
  bool jitter = true;
  /// No try starts later than this after the first; none means no limit. Negative counts as zero.
  /// The answer to a try that has started is waited for; by one who waits for a key, two seconds at
  /// most: then it is `outcome_unknown`, and a grant that comes later is given back.
  std::optional<std::chrono::milliseconds> give_up_after = std::nullopt;
  /// A request to stop ends a pause at once, and the wait for a key, even during a try, but not
  /// during the first one of a call that blocks. The answer to a try for a set, a semaphore or a
  /// read-write lock is waited for.
  std::stop_token stop = {};
  /// Whether a fault that may pass (`unavailable`, `outcome_unknown`) is no end: the database is
  /// restarted, say. Then the next try comes after a pause, an acquisition in doubt is sent again
  /// as the same attempt, and the fault is thrown once the tries are used up. Where many wait at
  /// one `lock_table`, one at a time asks for all while the database is away, after pauses that
  /// grow to a second, and there is no last try at the end of a limited time. Other faults are
  /// thrown at once, and so is every fault where one try is all that the policy allows.
  ///
  /// None: who waits for a lease does so, `retry` does not. A lock in a transaction of the caller's
  /// never does: a transaction ends with its connection.
  std::optional<bool> through_outages = std::nullopt;
};

/// One try.
retry_policy no_wait();
/// Tries until `duration` is over or `stop` is requested. Zero or less: one try.
retry_policy wait_for(std::chrono::milliseconds duration, std::stop_token stop = {});
/// Tries until `stop` is requested.
retry_policy wait_until_stopped(std::stop_token stop);
/// Tries for ever.
retry_policy wait_forever();

/// How long a call waits: a policy, or a duration in milliseconds or coarser, as in `.wait = 2s`,
/// which means `wait_for`. It is no aggregate: name the type, as in
/// `.wait = retry_policy{.attempts = 3}`.
struct wait_policy : retry_policy {
  // NOLINTBEGIN(google-explicit-constructor)
  wait_policy(retry_policy policy) : retry_policy{std::move(policy)} {}
  template <class Rep, class Period>
  requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::milliseconds>
  wait_policy(std::chrono::duration<Rep, Period> duration) : retry_policy{wait_for(duration)} {}
  // NOLINTEND(google-explicit-constructor)
};

}  // namespace rowlock

#endif
