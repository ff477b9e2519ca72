// Optimistic commit: no lock during the work, a compare-and-set at its end.
#ifndef ROWLOCK_WITH_OPTIMISTIC_COMMIT_HPP
#define ROWLOCK_WITH_OPTIMISTIC_COMMIT_HPP

#include <chrono>
#include <optional>
#include <utility>

#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry_policy.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

/// Begins a transaction on `connection`, reads the version of `key`, runs `callback(transaction)`,
/// and commits only if the version is still the same, moving it. Otherwise the work rolls back and
/// the outcome is refused (stale): run it all again, `retry` does. Refused before the callback when
/// the row is leased (held) or cannot be had at this moment (busy), and when the transaction could
/// not begin within `wait` (timed out, stopped; only where there is one writer at a time: SQLite).
///
/// Read the application's rows inside the callback, not before: the version must be older than
/// they.
///
/// Round trips: begin, read, compare-and-set, commit. Throws `error`, as `with_row_lock` does; an
/// exception of the callback rolls back and passes through unchanged. What `with_row_lock` says of
/// a callback that calls `commit()` or `abort()` holds here.
template <class Transaction, class Connection, class Callback>
auto with_optimistic_commit(Connection& connection, const lock_key& key, Callback&& callback,
                            const typename row_transaction<Transaction>::table_type& table = {},
                            const wait_policy& wait = std::chrono::seconds{1})
    -> outcome<typename detail::checked_callback<Transaction, Callback>::result> {
  using rows = row_transaction<Transaction>;
  std::optional<Transaction> transaction;
  auto refused = detail::wait_for_rows(wait, [&](std::chrono::milliseconds slice) {
    return rows::begin(transaction, connection, slice);
  });
  if (refused) {
    refused->key = key;
    return *std::move(refused);
  }
  const auto seen = rows::read(*transaction, key, table);
  if (!seen.acquired()) return seen.refusal();

  return detail::run_and_commit(*transaction, callback, [&]() -> std::optional<refusal> {
    if (rows::try_commit(*transaction, key, *seen, table) == commit_result::committed) return {};
    return refusal{.reason = refusal_reason::stale, .key = key};
  });
}

}  // namespace rowlock

#endif
