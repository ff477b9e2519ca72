// Trait that adapts a transaction type to this library's function templates.
#ifndef ROWLOCK_ROW_TRANSACTION_HPP
#define ROWLOCK_ROW_TRANSACTION_HPP

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "rowlock/detail/export.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"

namespace rowlock {

/// Specialised for each transaction type by the header of its database:
///
///   using table_type = ...;   // names the lock table; default constructible
///   // Begins one. A refusal (busy) if the database did not allow it within `slice`.
///   static std::optional<refusal> begin(std::optional<Transaction>&, Connection&,
///       std::chrono::milliseconds slice);
///   // Begins one that has locked the rows, waiting for row locks at most `slice`. After a refusal
///   // there is no transaction. Missing rows are created before it, in their own transaction.
///   static std::optional<refusal> begin_locked(std::optional<Transaction>&, Connection&,
///       const lock_keys&, std::chrono::milliseconds slice, const table_type&);
///   static outcome<version> read(Transaction&, const lock_key&, const table_type&);
///   static commit_result try_commit(Transaction&, const lock_key&, version, const table_type&);
///   // Proves the leases, or ends the transaction and throws `lease_lost`.
///   static void fence(Transaction&, const fenced_leases&, const fence_options&,
///       const table_type&);
///   // The same, and unsets their rows.
///   static void release_with(Transaction&, const fenced_leases&, const release_options&,
///       const table_type&);
///   // Optional: as `fence` or `release_with`. Returns the name of the transaction, which
///   // `fenced_run_options::in_doubt` takes.
///   static std::string prove_named(Transaction&, const fenced_leases&, const fenced_run_options&,
///       const table_type&);
///   // Throws `error` (outcome_unknown) if the answer to the commit was lost.
///   static void commit(Transaction&);
///   // Optional, both or none: from `lend` until `take_back` the transaction belongs to the
///   // callback, and its own commit throws (misuse). `take_back` returns false if the callback has
///   // rolled back, and may throw `error` (misuse) if it has committed.
///   static void lend(Transaction&) noexcept;
///   static bool take_back(Transaction&);
///   // failure_count + 1, in a transaction of its own, without waiting; best effort.
///   static void count_failure(Connection&, const lock_keys&, const table_type&) noexcept;
template <class Transaction>
struct row_transaction;

namespace detail {

/// Calls `try_once`, which may block for the given time, until it returns no refusal or the wait is
/// over. Returns the last refusal, as timed_out or stopped if that ended the wait.
ROWLOCK_EXPORT std::optional<refusal> wait_for_rows(
    const retry_policy& wait,
    const std::function<std::optional<refusal>(std::chrono::milliseconds slice)>& try_once);

/// Throws the `error` for a callback that commits its transaction.
[[noreturn]] ROWLOCK_EXPORT void throw_commit_in_callback();

/// Throws the `error` for a transaction that was over before its commit.
[[noreturn]] ROWLOCK_EXPORT void throw_over_before_commit();

template <class Transaction>
void lend(Transaction& transaction) noexcept {
  if constexpr (requires { row_transaction<Transaction>::lend(transaction); }) {
    row_transaction<Transaction>::lend(transaction);
  }
}

/// False: the callback has rolled back.
template <class Transaction>
bool take_back(Transaction& transaction) {
  if constexpr (requires { row_transaction<Transaction>::take_back(transaction); }) {
    return row_transaction<Transaction>::take_back(transaction);
  } else {
    return true;
  }
}

/// `begin_locked` for databases where a separate transaction first creates missing rows; `create`
/// commits it. `lock` returns the locked rows, a refusal, or neither if a row is missing. `end`
/// ends the transaction that `begin` began.
template <class Begin, class Lock, class Create, class End>
std::optional<refusal> begin_and_lock(const lock_key& first, const Begin& begin, const Lock& lock,
                                      const Create& create, const End& end) {
  for (bool created = false;; created = true) {
    begin();
    auto attempt = lock();
    if (attempt.locked) return {};
    end();
    if (attempt.refused) {
      // The stale snapshot is gone; the next try takes a new one.
      if (attempt.refused->reason == refusal_reason::stale) {
        attempt.refused->reason = refusal_reason::busy;
      }
      return attempt.refused;
    }
    if (created) return refusal{.reason = refusal_reason::busy, .key = first};
    begin();
    create();
    end();
  }
}

template <class Transaction, class Callback>
using result_in = std::decay_t<std::invoke_result_t<Callback&, Transaction&>>;

/// The same, with a readable message for a callback that does not fit.
template <class Transaction, class Callback>
struct checked_callback {
  static_assert(std::is_invocable_v<Callback&, Transaction&>,
                "the callback is given the transaction: write [&](Transaction& work) { ... }, with "
                "the type that is named in the angle brackets");
  using result = result_in<Transaction, Callback>;
};

/// Calls the callback with the transaction, then `gate`, which may still refuse, then `commit`.
/// Calls neither of the two after a callback that has rolled back. Reports the end.
template <class Transaction, class Callback, class Gate, class Commit>
outcome<result_in<Transaction, Callback>> run_and_commit(Transaction& transaction,
                                                         Callback& callback,
                                                         const transaction_report& report,
                                                         const Gate& gate, const Commit& commit) {
  using result = result_in<Transaction, Callback>;
  bool is_in_doubt = false;
  const auto end = [&]() -> std::optional<refusal> {
    if (!take_back(transaction)) {
      report.emit(transaction_result::rolled_back);
      return {};
    }
    if (std::optional<refusal> refused = gate()) return refused;
    is_in_doubt = true;
    commit();
    report.emit(transaction_result::committed);
    return {};
  };
  try {
    lend(transaction);
    if constexpr (std::is_void_v<result>) {
      std::invoke(callback, transaction);
      if (std::optional<refusal> refused = end()) return *std::move(refused);
      return outcome<void>{true};
    } else {
      result value = std::invoke(callback, transaction);
      if (std::optional<refusal> refused = end()) return *std::move(refused);
      return outcome<result>{std::move(value)};
    }
  } catch (const std::exception& thrown) {
    if (is_conflict(thrown)) {
      report.emit(transaction_result::conflict);
    } else if (!is_in_doubt) {
      report.emit(transaction_result::rolled_back);
    }
    throw;
  } catch (...) {
    if (!is_in_doubt) report.emit(transaction_result::rolled_back);
    throw;
  }
}

template <class Transaction, class Callback, class Gate>
auto run_and_commit(Transaction& transaction, Callback& callback, const transaction_report& report,
                    const Gate& gate) {
  return run_and_commit(transaction, callback, report, gate,
                        [&] { row_transaction<Transaction>::commit(transaction); });
}

}  // namespace detail
}  // namespace rowlock

#endif
