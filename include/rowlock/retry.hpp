// Runs work again when it met a conflict, or, if asked for, an outage.
#ifndef ROWLOCK_RETRY_HPP
#define ROWLOCK_RETRY_HPP

#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rowlock/backoff.hpp"
#include "rowlock/boot_clock.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/refusal.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock {

namespace detail {

template <class T>
bool is_stale(const outcome<T>& result) {
  return !result.acquired() && result.refusal().reason == refusal_reason::stale;
}
inline bool is_stale(commit_result result) { return result == commit_result::stale; }

template <class T>
std::optional<refusal> refusal_in(const outcome<T>& stale) {
  return stale.refusal();
}
inline std::optional<refusal> refusal_in(commit_result /*stale*/) { return std::nullopt; }

/// An `error` that says that the database is away and nothing happened.
bool is_unavailable(const std::exception& thrown) noexcept;

/// What `retry` can look at.
template <class T>
inline constexpr bool can_be_stale = false;
template <class T>
inline constexpr bool can_be_stale<outcome<T>> = true;
template <>
inline constexpr bool can_be_stale<commit_result> = true;

/// Whether a known driver says that a concurrent transaction made this one fail.
bool is_conflict(const std::exception& thrown) noexcept;

/// The databases' libraries tell which exceptions of their driver are conflicts.
void recognise_conflicts(bool (*test)(const std::exception&)) noexcept;

}  // namespace detail

/// Work is about to run again.
struct retry_event {
  /// Of the try that comes: 2 is the first that is a retry.
  unsigned attempt = 0;
  /// Before it; the event is told at its beginning.
  boot_clock::duration pause{};
  /// Why: what `work` was refused with, if it answered an `outcome`, or what it threw. Neither:
  /// `commit_result::stale`.
  std::optional<rowlock::refusal> refused = std::nullopt;
  std::exception_ptr thrown = nullptr;
};

/// Calls `work()` until it neither answers stale nor meets a conflict, or until `policy` gives up;
/// then the last answer is returned, or the last conflict thrown. `work` returns an `outcome` or a
/// `commit_result`, and starts from the beginning each time: a new transaction, the version read
/// anew.
///
/// Conflicts are the exceptions by which a database says that the whole transaction should be run
/// again: PostgreSQL 40001 and 40P01, any SQLITE_BUSY, MariaDB and MySQL 1213, 1020 and 3101, as
/// pqxx, SQLiteCpp or SOCI throws them. With `through_outages` an `error` of `unavailable` is worth
/// a retry, too; without, it is not: a conflict is over in milliseconds, an outage may last, and
/// only the caller knows whether the work may wait so long, and whether all that it did before the
/// fault is undone. Everything else passes through at once: `outcome_unknown` above all, and what
/// the driver throws of a lost connection, which does not say whether a commit was made.
///
/// `before_retry` is called before each pause, for a log line; what it throws passes through.
template <class Work>
auto retry(const retry_policy& policy, Work&& work,
           const std::function<void(const retry_event&)>& before_retry = {})
    -> std::invoke_result_t<Work&> {
  static_assert(detail::can_be_stale<std::invoke_result_t<Work&>>,
                "retry asks what the work answers: return a rowlock::outcome or a "
                "rowlock::commit_result from it, not void, bool or a value of your own");
  const bool outlasts = policy.through_outages.value_or(false);
  backoff pauses{policy};
  for (;;) {
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
    const auto verdict = pauses.pause({}, [&](unsigned attempt, boot_clock::duration pause) {
      next.attempt = attempt;
      next.pause = pause;
      if (before_retry) before_retry(next);
    });
    if (verdict == backoff::verdict::again) continue;
    if (next.thrown != nullptr) std::rethrow_exception(next.thrown);
    return *std::move(stale);
  }
}

}  // namespace rowlock

#endif
