// Retries: policies, pauses, and work that runs again after a conflict or outage.
#ifndef ROWLOCK_RETRY_HPP
#define ROWLOCK_RETRY_HPP

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "rowlock/clock.hpp"
#include "rowlock/detail/export.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/outcome.hpp"

namespace rowlock {

/// The first limit that is reached ends the tries. At least one is made. Waiters of one process for
/// one key, for the same set, or for permits of one name queue for it, each with its own policy. A
/// caller that finds waiters in the queue, or knows from a notification that another process has
/// the key, has made its first try. After each of its pauses the next read of the row counts as a
/// try. All waiters share that read, which is made within 0.6 s of being due. For several rows it
/// is a try of the first waiter. After a notification that another process took the key, the next
/// read comes after a second, unless some waiter's `attempts` are limited.
///
/// Where releases are not announced, the next read comes after a twentieth of the time for which
/// the key was held: after a second at most, and after 50 ms and the shortest `first_pause` at the
/// least. It also comes after each pause of a waiter whose `attempts` are limited.
struct retry_policy {
  /// Tries in all, the first one included; none: no limit.
  std::optional<unsigned> attempts = std::nullopt;
  /// The pause before the second try, and the shortest of all.
  std::chrono::milliseconds first_pause{10};
  std::chrono::milliseconds longest_pause{1000};
  /// True: each pause is drawn between `first_pause` and three times the last one ("decorrelated
  /// jitter", AWS Architecture Blog, 2015), so that callers that collided do not collide again.
  /// False: each pause is twice the last one.
  bool jitter = true;
  /// No try starts later than this after the first; none: no limit. Negative counts as zero. The
  /// answer to a started try is waited for. A waiter for a key waits for it at most two seconds:
  /// then the result is `outcome_unknown`, and a later grant is released.
  std::optional<std::chrono::milliseconds> give_up_after = std::nullopt;
  /// A requested stop ends a pause at once. It also ends the wait for a key, even during a try,
  /// except the first try of a call that blocks. The answer to a try for a set, a semaphore or a
  /// read-write lock is waited for.
  std::stop_token stop = {};
  /// Whether to go on after a fault that may pass (`unavailable`, `outcome_unknown`), such as a
  /// restart of the database. The next try comes after a pause; an acquisition in doubt is sent
  /// again as the same attempt. The fault is thrown once the tries are used up.
  ///
  /// While the database is away, one waiter of a `lock_table` tries for all of them. Its pauses
  /// grow to a second, and a limited time has no last try at its end. Other faults are thrown at
  /// once, and so is every fault if the policy allows one try only. None: a wait for a lease goes
  /// on, `retry` does not. A lock in the caller's transaction never does: a transaction ends with
  /// its connection.
  std::optional<bool> through_outages = std::nullopt;
  /// Whether a wait that goes on through outages also does so while the server refuses the login
  /// (`login_refused`), as when a password is changed on the server before the application has it.
  bool through_refused_logins = false;
};

/// One try.
ROWLOCK_EXPORT retry_policy no_wait();
/// Tries until `duration` is over or `stop` is requested. Zero or less: one try.
ROWLOCK_EXPORT retry_policy wait_for(std::chrono::milliseconds duration, std::stop_token stop = {});
ROWLOCK_EXPORT retry_policy wait_until_stopped(std::stop_token stop);
ROWLOCK_EXPORT retry_policy wait_forever();

/// How long a call waits: a policy, or a duration in milliseconds or coarser, as in `.wait = 2s`,
/// which means `wait_for`. Not an aggregate: name the type, `.wait = retry_policy{.attempts = 3}`.
struct wait_policy : retry_policy {
  // NOLINTBEGIN(google-explicit-constructor)
  wait_policy(retry_policy policy) : retry_policy{std::move(policy)} {}
  template <class Rep, class Period>
  requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::milliseconds>
  wait_policy(std::chrono::duration<Rep, Period> duration) : retry_policy{wait_for(duration)} {}
  // NOLINTEND(google-explicit-constructor)
};

/// The pauses between tries. Construct it just before the first try. Throws `error` (misuse) for
/// zero attempts, a pause of zero or less, or a longest pause below the first. Thread-safety: one
/// thread at a time.
class ROWLOCK_EXPORT backoff {
 public:
  enum class verdict {
    again,      ///< Slept; try once more.
    exhausted,  ///< The attempts or the time are used up.
    stopped,    ///< A stop was requested.
  };

  explicit backoff(retry_policy policy, std::shared_ptr<time_source> time = system_time());

  /// Called after a failed try. Sleeps if another try follows, at most `max_pause` if the caller
  /// knows a better moment, such as the end of a lease. The last try of a limited time is made at
  /// its end. Before the sleep, `before` is called with the number of the next try and the pause;
  /// what it throws passes through.
  verdict pause(std::optional<boot_clock::duration> max_pause = std::nullopt,
                const std::function<void(unsigned, boot_clock::duration)>& before = {});

  /// How long the tries may still go on; none: no limit.
  [[nodiscard]] std::optional<boot_clock::duration> remaining() const;

  /// Whether the policy allows more than one try.
  [[nodiscard]] bool is_patient() const noexcept;

  /// Whether no other try follows.
  [[nodiscard]] bool is_last_try() const;

 private:
  retry_policy policy_;
  std::shared_ptr<time_source> time_;
  boot_clock::time_point started_;
  boot_clock::duration last_pause_{};
  unsigned tries_ = 1;
};

namespace detail {

template <class T>
bool is_stale(const outcome<T>& result) {
  if (result.acquired()) return false;
  const auto reason = result.refusal().reason;
  return reason == refusal_reason::stale || reason == refusal_reason::deadlock;
}
inline bool is_stale(commit_result result) { return result == commit_result::stale; }

template <class T>
std::optional<refusal> refusal_in(const outcome<T>& stale) {
  return stale.refusal();
}
inline std::optional<refusal> refusal_in(commit_result /*stale*/) { return std::nullopt; }

/// Whether it is an `error` of kind `unavailable`.
ROWLOCK_EXPORT bool is_unavailable(const std::exception& thrown) noexcept;

/// The results that `retry` can check.
template <class T>
inline constexpr bool can_be_stale = false;
template <class T>
inline constexpr bool can_be_stale<outcome<T>> = true;
template <>
inline constexpr bool can_be_stale<commit_result> = true;

/// Whether a known driver threw it for a conflict with a concurrent transaction.
ROWLOCK_EXPORT bool is_conflict(const std::exception& thrown) noexcept;

/// Called by the database libraries, with a test for the conflicts of their driver.
ROWLOCK_EXPORT void recognise_conflicts(bool (*test)(const std::exception&)) noexcept;

}  // namespace detail

/// Work is about to run again.
struct retry_event {
  /// The number of the next try: 2 is the first retry.
  unsigned attempt = 0;
  /// The pause before it, which begins with this event.
  boot_clock::duration pause{};
  /// The refusal that `work` returned, or what it threw. Neither: `commit_result::stale`.
  std::optional<rowlock::refusal> refused = std::nullopt;
  std::exception_ptr thrown = nullptr;
};

/// Calls `work()` until it neither returns stale nor ends in a conflict, or until `policy` gives
/// up. Then returns the last result, or throws the last conflict. `work` returns an `outcome` or a
/// `commit_result`, and starts from the beginning each time: in a new transaction, with a new read.
///
/// Conflicts are the exceptions by which a database says to run the whole transaction again:
/// PostgreSQL 40001 and 40P01, any SQLITE_BUSY, MariaDB and MySQL 1213, 1020 and 3101, as pqxx,
/// SQLiteCpp or SOCI throws them.
///
/// With `through_outages` an `error` of `unavailable` is retried as well. By default it is not: a
/// conflict is over in milliseconds, while an outage may last. Only the caller knows whether the
/// work may wait that long, and whether all that it did before the fault is undone. Everything else
/// passes through at once, including `outcome_unknown` and the driver's exception for a lost
/// connection, which does not say whether a commit was made. `before_retry` is called before each
/// pause, for a log line; it may throw. `time` is the clock of the pauses.
template <class Work>
auto retry(const retry_policy& policy, Work&& work,
           const std::function<void(const retry_event&)>& before_retry = {},
           const std::shared_ptr<time_source>& time = system_time())
    -> std::invoke_result_t<Work&> {
  static_assert(detail::can_be_stale<std::invoke_result_t<Work&>>,
                "retry asks what the work answers: return a rowlock::outcome or a "
                "rowlock::commit_result from it, not void, bool or a value of your own");
  const bool outlasts = policy.through_outages.value_or(false);
  backoff pauses{policy, time};
  for (unsigned attempt = 1;; ++attempt) {
    const detail::transaction_report report{transaction_work::retry, 0, [] { return lock_key{}; },
                                            attempt};
    retry_event next;
    std::optional<std::invoke_result_t<Work&>> stale;
    try {
      auto result = std::invoke(work);
      if (!detail::is_stale(result)) return result;
      next.refused = detail::refusal_in(result);
      stale.emplace(std::move(result));
    } catch (const std::exception& thrown) {
      const bool is_outlasted = outlasts && detail::is_unavailable(thrown);
      if (!is_outlasted && !detail::is_conflict(thrown)) throw;
      next.thrown = std::current_exception();
    }
    report.emit(transaction_result::conflict);
    const auto verdict = pauses.pause({}, [&](unsigned number, boot_clock::duration pause) {
      next.attempt = number;
      next.pause = pause;
      if (before_retry) before_retry(next);
    });
    if (verdict == backoff::verdict::again) continue;
    next.refused ? report.emit_refused(*next.refused) : report.emit(transaction_result::refused);
    if (next.thrown != nullptr) std::rethrow_exception(next.thrown);
    return *std::move(stale);
  }
}

}  // namespace rowlock

#endif
