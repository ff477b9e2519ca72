// The proof of possession inside the application's own transaction.
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

#include "rowlock/error.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock {

/// The leases that a transaction depends on: a parameter of this type takes one lease, several in
/// braces (`{std::cref(a), std::cref(b)}`), a vector, or a lease_set. They must outlive it. One
/// that is not valid (`lease::is_valid`) is proved by no fence, even if nobody else has the key.
/// Throws `error` (misuse) when there is none, when two are of one key, and in a child of fork()
/// for its parent's.
class fenced_leases {
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

/// Which lock the fence takes on the row, until the transaction ends.
enum class fence_kind {
  /// Changes the row. Right whatever isolation the contenders for the key use.
  write,
  /// `FOR SHARE`: writes no row, and several transactions of the same lease can be fenced at once.
  /// Only right on one primary, and if nobody takes row locks or commits optimistically on the key
  /// at REPEATABLE READ or above: such a transaction would not see what this one wrote.
  share,
};

struct fence_options {
  fence_kind kind = fence_kind::write;
  /// How long the transaction may be idle after the fence before the server ends it: until it ends,
  /// nobody can take the key over. PostgreSQL only; a smaller limit that is set already stays.
  std::chrono::milliseconds idle_limit{10'000};
};

struct release_options {
  /// Remember the work as done for so long, as `with_lock_once` does: the mark commits together
  /// with the work, or not at all. At most ten years.
  std::optional<std::chrono::milliseconds> done_for = std::nullopt;
};

/// What became of a commit whose answer got lost.
enum class commit_fate { committed, rolled_back, unknown };

/// What `run_fenced` does beyond the work.
struct fenced_run_options {
  fence_options fence = {};
  /// Fence before the work instead of after it. At READ COMMITTED after is better: it keeps the row
  /// locked for a shorter time. At REPEATABLE READ and above before is better: a renewal during the
  /// work makes a fence after it fail with a conflict. A fenced row is not renewed, so the work has
  /// to end before `valid_until()`: a lease that is not valid then is `lease_lost`, and nothing
  /// commits.
  bool fence_first = false;
  /// Unset the rows with the same commit. A rollback keeps the leases.
  bool release = false;
  /// With `release`.
  release_options released_as = {};
  /// How often the whole transaction is run in all when it meets conflicts.
  retry_policy retries{.attempts = 10};
  /// Asked what became of the transaction when the answer to its commit got lost: a
  /// `postgres_witness`. What it is given is the transaction's name, which the fence took along.
  /// None: nobody is asked, and the fence does not ask for the name. Through libpqxx only;
  /// elsewhere nobody can be asked.
  std::function<commit_fate(const std::string& transaction)> in_doubt = {};
};

namespace detail {

/// Of several rows the last of what they tell counts.
enum class fence_try {
  held,    ///< All rows are locked under their leases' versions.
  in_use,  ///< Somebody has a row at this moment: our own renewal perhaps.
  unseen,  ///< The transaction does not see the grant: it sees an older state, or no row.
  lost,    ///< A row has a later version.
  over,    ///< A lease is not valid by its own deadline, so nothing is asked.
};

struct fence_proof {
  fence_try found;
  /// Held, and with a release: the versions that the rows have now, in the order of the leases.
  std::vector<version> unset_as = {};
};

/// Of a row that could not be fenced, by the version in which the transaction sees it, if it does.
fence_try why_not_fenced(std::optional<version> seen, version granted);

/// Tries again for about 100 ms unless they are held, lost or over.
fence_try prove_patiently(const fenced_leases& leases, const std::function<fence_try()>& try_once);

/// Throws `lease_lost`; `last` is not `held`, and the transaction has been ended. Leases that are
/// found lost are marked so before.
[[noreturn]] void throw_not_proved(const fenced_leases& leases, fence_try last);

/// For the stores: what a release that rides in a transaction writes into the rows.
std::vector<release_request> to_release(const fenced_leases& leases,
                                        const release_options& options);

/// Tells the leases which versions a transaction gave their rows that is to unset them; none: it is
/// not.
void released_within(const fenced_leases& leases, const std::vector<version>& unset_as) noexcept;

/// Tells the leases that the transaction which unset their rows has committed.
void released_by_commit(const fenced_leases& leases) noexcept;

/// Ends those that a transaction was to unset, of whose commit nobody knows.
void released_in_doubt(const fenced_leases& leases) noexcept;

/// Throws `lease_lost` unless all are valid by their own deadlines.
void check_valid(const fenced_leases& leases);

/// The transaction's name, if there is somebody to ask about it.
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

/// Called while the `error` of a commit is being handled: returns if the transaction, when asked
/// for by `name`, turns out to have committed, and throws otherwise.
void resolve_doubt(const error& fault, const std::string& name, const fenced_run_options& options);

/// Refused when the transaction could not begin.
template <class Transaction, class Connection, class Work>
auto run_fenced_once(Connection& connection, const fenced_leases& leases, Work& work,
                     const fenced_run_options& options, std::chrono::milliseconds slice,
                     const typename row_transaction<Transaction>::table_type& table)
    -> outcome<result_in<Transaction, Work>> {
  std::optional<Transaction> transaction;
  if (auto refused = row_transaction<Transaction>::begin(transaction, connection, slice)) {
    return *std::move(refused);
  }
  // A release unsets the rows, so it comes last in any case.
  const bool fence_first = options.fence_first && !options.release;
  std::string name;
  const auto fence = [&] { name = prove(*transaction, leases, options, table); };
  if (fence_first) fence();
  bool is_rolled_back = true;
  try {
    auto done = run_and_commit(
        *transaction, work,
        [&]() -> std::optional<refusal> {
          is_rolled_back = false;
          check_valid(leases);
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
    // By the work, or by a fence of its own whose `lease_lost` it has kept to itself.
    if (is_rolled_back) check_valid(leases);
    return done;
  } catch (const error& thrown) {
    if (thrown.kind() == errc::outcome_unknown) released_in_doubt(leases);
    throw;
  }
}

}  // namespace detail

/// Begins a transaction on `connection`, runs `work(transaction)`, proves that all the leases are
/// still held, and commits. It commits only if they are: a process that was paused past its lease
/// cannot. A lease that is not valid (its deadline has come, `at_most` included, or it was released
/// or lost) is `lease_lost` before anything is sent, whether or not anybody has taken the key over.
///
/// When the database says that the transaction met a conflict (PostgreSQL 40001 and 40P01, a busy
/// SQLite file, MariaDB and MySQL 1213, 1020 and 3101), all of it is run again, as often as
/// `options.retries` allows, as long as the leases are valid; then the conflict is thrown. So
/// `work` may run several times; only one run counts.
///
/// Work that calls `abort()` on the transaction and returns rolls back quietly: nothing is proved
/// or committed, and the leases stay. A `commit()` in it is misuse: our own kinds of transaction
/// throw before anything is committed. Those of libpqxx cannot be kept from it: what they commit is
/// committed without a fence, and then this call throws. So is a statement like COMMIT that the
/// work sends itself.
///
/// Throws `lease_lost`; `error` (outcome_unknown) when the answer to the commit got lost; and
/// whatever `work` throws. With `options.in_doubt` a commit whose answer got lost counts when it
/// turns out to have happened, and is `error` (unavailable) when it turns out not to: then `work`
/// may be run again on a new connection while the leases are valid. Where the commit was to unset
/// the rows, an outcome that stays unknown ends the leases either way: somebody else may have the
/// keys by now; rows still ours are unset in the background. Round trips: begin, the work's, one,
/// commit.
template <class Transaction, class Connection, class Work>
auto run_fenced(Connection& connection, const fenced_leases& leases, Work&& work,
                const fenced_run_options& options = {},
                const typename row_transaction<Transaction>::table_type& table = {}) ->
    typename detail::checked_callback<Transaction, Work>::result {
  constexpr std::chrono::milliseconds longest_slice{1000};
  backoff pauses{options.retries};
  for (;;) {
    detail::check_valid(leases);
    try {
      auto slice = longest_slice;
      if (const auto left = pauses.remaining()) {
        slice = std::min(slice, std::chrono::ceil<std::chrono::milliseconds>(*left));
      }
      auto done =
          detail::run_fenced_once<Transaction>(connection, leases, work, options, slice, table);
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
      detail::check_valid(leases);
      if (pauses.pause() != backoff::verdict::again) throw;
    }
  }
}

}  // namespace rowlock

#endif
