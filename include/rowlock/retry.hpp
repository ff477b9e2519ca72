// Runs work again when it met a conflict, and only then.
#ifndef ROWLOCK_RETRY_HPP
#define ROWLOCK_RETRY_HPP

#include <exception>
#include <functional>

#include "rowlock/backoff.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock {

namespace detail {

template <class T>
bool is_stale(const outcome<T>& result) {
  return !result.acquired() && result.refusal().reason == refusal_reason::stale;
}
inline bool is_stale(commit_result result) { return result == commit_result::stale; }

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

/// Calls `work()` until it neither answers stale nor meets a conflict, or until `policy` gives up;
/// then the last answer is returned, or the last conflict thrown. `work` returns an `outcome` or a
/// `commit_result`, and starts from the beginning each time: a new transaction, the version read
/// anew.
///
/// Conflicts are the exceptions by which a database says that the whole transaction should be run
/// again: PostgreSQL 40001 and 40P01, any SQLITE_BUSY, MariaDB and MySQL 1213, 1020 and 3101, as
/// pqxx, SQLiteCpp or SOCI throws them. Everything else, outcome_unknown above all, passes through
/// at once.
template <class Work>
auto retry(const retry_policy& policy, Work&& work) -> std::invoke_result_t<Work&> {
  static_assert(detail::can_be_stale<std::invoke_result_t<Work&>>,
                "retry asks what the work answers: return a rowlock::outcome or a "
                "rowlock::commit_result from it, not void, bool or a value of your own");
  backoff pauses{policy};
  for (;;) {
    try {
      auto result = std::invoke(work);
      if (!detail::is_stale(result) || pauses.pause() != backoff::verdict::again) return result;
    } catch (const std::exception& thrown) {
      if (!detail::is_conflict(thrown) || pauses.pause() != backoff::verdict::again) throw;
    }
  }
}

}  // namespace rowlock

#endif
