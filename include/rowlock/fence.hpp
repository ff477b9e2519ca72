// Fencing: proves inside a transaction that its leases are still held.
#ifndef ROWLOCK_FENCE_HPP
#define ROWLOCK_FENCE_HPP

#include <algorithm>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

/// The leases that a transaction depends on. Converts from one lease, several in braces
/// (`{std::cref(a), std::cref(b)}`), a vector, or a lease_set. The leases must outlive it. No fence
/// proves an invalid lease (`lease::is_valid`), even if no other process has the key. Throws
/// `error` (misuse) for no lease, two of one key, and the parent's leases in a child of fork().
class ROWLOCK_EXPORT fenced_leases {
 public:
  fenced_leases(const lease& one);  // NOLINT(google-explicit-constructor)
  fenced_leases(std::initializer_list<std::reference_wrapper<const lease>> leases);
  fenced_leases(std::span<const lease> leases);     // NOLINT(google-explicit-constructor)
  fenced_leases(const std::vector<lease>& leases);  // NOLINT(google-explicit-constructor)
  fenced_leases(const lease_set& leases);           // NOLINT(google-explicit-constructor)

  [[nodiscard]] std::span<const std::reference_wrapper<const lease>> all() const noexcept {
    return leases_;
  }

 private:
  void check() const;

  std::vector<std::reference_wrapper<const lease>> leases_;
};

/// The lock that the fence takes on the row until the transaction ends.
enum class fence_kind {
  /// Changes the row. Correct at every isolation level of the contenders.
  write,
  /// `FOR SHARE`: writes no row, and several transactions can fence the same lease at once. Correct
  /// only on one primary, and only if no transaction at REPEATABLE READ or above takes row locks or
  /// commits optimistically on the key: it would not see what this transaction wrote.
  share,
};

struct fence_options {
  fence_kind kind = fence_kind::write;
  /// How long the transaction may be idle after the fence before the server ends it; above zero.
  /// Until then no other process can take over the key. PostgreSQL only; above 24 days counts as 24
  /// days, and a smaller limit that is already set stays. It does not end a prepared transaction
  /// (PREPARE TRANSACTION), which keeps the key until COMMIT PREPARED or ROLLBACK PREPARED.
  std::chrono::milliseconds idle_limit{10'000};
};

struct release_options {
  /// How long the row remembers the work as done, as in `with_lock_once`; at most ten years. The
  /// mark commits together with the work, or not at all.
  std::optional<std::chrono::milliseconds> done_for = std::nullopt;
};

/// The outcome of a commit whose answer was lost.
enum class commit_fate { committed, rolled_back, unknown };

struct fenced_run_options {
  fence_options fence = {};
  /// Fence before the work instead of after it. No effect with `release`. At READ COMMITTED a fence
  /// after the work is better: it locks the row for a shorter time. At REPEATABLE READ and above a
  /// fence before the work is better: a renewal during the work makes a later fence fail with a
  /// conflict. A fenced row is not renewed, so the work must end before `valid_until()`. Otherwise
  /// the call throws `lease_lost`, and nothing commits.
  bool fence_first = false;
  /// Unset the rows in the same commit. A rollback keeps the leases.
  bool release = false;
  /// Used with `release`.
  release_options released_as = {};
  /// Limits the tries of the whole transaction after conflicts, the first one included.
  retry_policy retries{.attempts = 10};
  /// Called if the answer to the commit was lost, with the transaction's name, which the fence
  /// read. Returns the outcome of the commit. Usually a `postgres_witness`. Empty: the outcome
  /// stays unknown, and the fence does not read the name. Called through libpqxx only.
  std::function<commit_fate(const std::string& transaction)> in_doubt = {};
};

namespace detail {

/// The result of one try to fence. For several rows the greatest value counts.
enum class fence_try {
  held,    ///< All rows are locked under their leases' versions.
  in_use,  ///< A row is locked right now, perhaps by a renewal of this process.
  unseen,  ///< The transaction sees an older state than the grant, or no row.
  lost,    ///< A row has a later version.
  over,    ///< A lease is not valid, so no statement is sent.
};

struct fence_proof {
  fence_try found;
  /// The rows' new versions, in the order of the leases. Set if held and released.
  std::vector<version> unset_as = {};
};

/// Why a row could not be fenced. `seen` is the version that the transaction sees, if any.
ROWLOCK_EXPORT fence_try why_not_fenced(std::optional<version> seen, version granted);

/// Tries again for about 100 ms unless the result is held, lost or over.
ROWLOCK_EXPORT fence_try prove_patiently(const fenced_leases& leases,
                                         const std::function<fence_try()>& try_once);

/// Throws `lease_lost`. The transaction has ended. First marks the leases that were found lost.
[[noreturn]] ROWLOCK_EXPORT void throw_not_proved(const fenced_leases& leases, fence_try last);

/// For the stores: what a release within a transaction writes.
ROWLOCK_EXPORT std::vector<release_request> to_release(const fenced_leases& leases,
                                                       const release_options& options);

/// Records in the leases the versions that a transaction gave their rows, which it unsets when it
/// commits. Empty: no transaction does.
ROWLOCK_EXPORT void released_within(const fenced_leases& leases,
                                    const std::vector<version>& unset_as) noexcept;

/// Records in the leases that the transaction that unset their rows has committed.
ROWLOCK_EXPORT void released_by_commit(const fenced_leases& leases) noexcept;

/// Ends leases whose rows a commit was to unset, if its outcome is unknown.
ROWLOCK_EXPORT void released_in_doubt(const fenced_leases& leases) noexcept;

/// Throws `lease_lost` unless all leases are valid.
ROWLOCK_EXPORT void check_valid(const fenced_leases& leases);
/// The same, and reports the refusal.
ROWLOCK_EXPORT void check_valid(const fenced_leases& leases, const transaction_report& report);

/// Fences, or releases, within the transaction. Returns its name if `options.in_doubt` needs it.
template <class Transaction>
std::string prove(Transaction& transaction, const fenced_leases& leases,
                  const fenced_run_options& options,
                  const typename row_transaction<Transaction>::table_type& table) {
  using rows = row_transaction<Transaction>;
  if constexpr (requires { rows::prove_named(transaction, leases, options, table); }) {
    if (options.in_doubt) return rows::prove_named(transaction, leases, options, table);
  }
  if (options.release) {
    rows::release_with(transaction, leases, options.released_as, table);
  } else {
    rows::fence(transaction, leases, options.fence, table);
  }
  return {};
}

/// Called while the `error` of a commit is being handled. Returns if `options.in_doubt` reports
/// that the transaction `name` has committed; otherwise throws.
ROWLOCK_EXPORT void resolve_doubt(const error& fault, const std::string& name,
                                  const fenced_run_options& options);

/// Refused if the transaction could not begin.
template <class Transaction, class Connection, class Work>
auto run_fenced_once(Connection& connection, const fenced_leases& leases, Work& work,
                     const fenced_run_options& options, std::chrono::milliseconds slice,
                     const typename row_transaction<Transaction>::table_type& table,
                     const transaction_report& report) -> outcome<result_in<Transaction, Work>> {
  std::optional<Transaction> transaction;
  if (auto refused = row_transaction<Transaction>::begin(transaction, connection, slice)) {
    return *std::move(refused);
  }
  // A release unsets the rows, so it always comes last.
  const bool fence_first = options.fence_first && !options.release;
  std::string name;
  const auto fence = [&] { name = prove(*transaction, leases, options, table); };
  const auto fenced_work = [&](Transaction& lent) -> decltype(auto) {
    if (fence_first) fence();
    return std::invoke(work, lent);
  };
  bool is_rolled_back = true;
  try {
    auto done = run_and_commit(
        *transaction, fenced_work, report,
        [&]() -> std::optional<refusal> {
          is_rolled_back = false;
          check_valid(leases, report);
          if (!fence_first) fence();
          return {};
        },
        [&] {
          try {
            row_transaction<Transaction>::commit(*transaction);
          } catch (const error& fault) {
            resolve_doubt(fault, name, options);
          }
          if (options.release) released_by_commit(leases);
        });
    // The work rolled back, or swallowed the `lease_lost` of its own fence.
    if (is_rolled_back) check_valid(leases);
    return done;
  } catch (const error& thrown) {
    if (thrown.kind() == errc::outcome_unknown) released_in_doubt(leases);
    throw;
  }
}

}  // namespace detail

/// Begins a transaction on `connection`, runs `work(transaction)`, proves that all leases are still
/// held, and commits only if they are. So a process that was paused past its lease cannot commit.
/// If a lease is not valid (past its deadline, `renew_for` included, released, or lost), the call
/// throws `lease_lost` before anything is sent, whether or not the key was taken over.
///
/// After a conflict (PostgreSQL 40001 and 40P01, a busy SQLite file, MariaDB and MySQL 1213, 1020
/// and 3101) the whole transaction runs again, as often as `options.retries` allows, while the
/// leases are valid. Then the conflict is thrown. `work` may run several times; one run counts.
///
/// Work that calls `abort()` on the transaction and returns rolls back quietly: nothing is proved
/// or committed, and the leases stay. A `commit()` in the work is misuse. rowlock's own transaction
/// types throw before anything is committed. A libpqxx transaction, or a statement like COMMIT,
/// commits the work without a fence, and then this call throws. An SQL error that the work swallows
/// may have ended the transaction: misuse, and nothing is kept, as in `with_row_lock`.
///
/// Round trips: begin, those of the work, one for the fence, commit. Throws `lease_lost`, `error`
/// (outcome_unknown) if the answer to the commit was lost, and whatever `work` throws. With
/// `options.in_doubt` a commit whose answer was lost counts if it did happen. If it did not, the
/// call throws `error` (unavailable): the caller may run it again on a new connection while the
/// leases are valid. If the commit was to unset the rows and its outcome stays unknown, the leases
/// end: another process may have the keys by now. Rows that this process still has are unset in the
/// background.
template <class Transaction, class Connection, class Work>
auto run_fenced(Connection& connection, const fenced_leases& leases, Work&& work,
                const fenced_run_options& options = {},
                const typename row_transaction<Transaction>::table_type& table = {}) ->
    typename detail::checked_callback<Transaction, Work>::result {
  constexpr std::chrono::milliseconds longest_slice{1000};
  backoff pauses{options.retries};
  for (unsigned attempt = 1;; ++attempt) {
    const detail::transaction_report report{transaction_work::fence, leases.all().size(),
                                            [&] { return leases.all()[0].get().key(); }, attempt};
    detail::check_valid(leases, report);
    try {
      auto slice = longest_slice;
      if (const auto left = pauses.remaining()) {
        slice = std::min(slice, std::chrono::ceil<std::chrono::milliseconds>(*left));
      }
      auto done = detail::run_fenced_once<Transaction>(connection, leases, work, options, slice,
                                                       table, report);
      if (done.acquired()) {
        if constexpr (std::is_void_v<detail::result_in<Transaction, Work>>) {
          return;
        } else {
          return *std::move(done);
        }
      }
      if (pauses.pause() != backoff::verdict::again) {
        throw error{errc::unavailable, "the transaction could not begin: the database was busy"};
      }
    } catch (const std::exception& thrown) {
      if (!detail::is_conflict(thrown)) throw;
      detail::check_valid(leases, report);
      if (pauses.pause() != backoff::verdict::again) throw;
    }
  }
}

}  // namespace rowlock

#endif
