// What a store tells the conformance suite about itself, so that the suite never asks which it is.
#ifndef ROWLOCK_CONFORMANCE_STORE_BENCH_HPP
#define ROWLOCK_CONFORMANCE_STORE_BENCH_HPP

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "rowlock/conformance/application.hpp"
#include "rowlock/store.hpp"

namespace rowlock::conformance {

/// One fresh, empty lock table in one database. Who writes a store derives from it, and the suite
/// makes one for each of its tests. Exceptions fail the test.
///
/// Thread-safety: `open` and `connect` may be called from any thread, the others from one at a
/// time.
class store_bench {
 public:
  store_bench() = default;
  store_bench(const store_bench&) = delete;
  store_bench& operator=(const store_bench&) = delete;
  virtual ~store_bench() = default;

  /// A store on the table, with connections of its own where it has any. `turn` is how long it
  /// waits where only one can write at a time; short in tests that keep others from writing.
  virtual std::shared_ptr<store> open(std::chrono::milliseconds turn = std::chrono::seconds{
                                          10}) = 0;

  /// The lease of `key` runs out now, or the time is over for which it stays closed. So may others
  /// that have no more time left than it has.
  virtual void run_out(const lock_key& key) = 0;

  /// The time is over for which the work of `key` is remembered as done.
  virtual void let_done_lapse(const lock_key& key) = 0;

  /// The version of `key` falls far behind the clock, as that of a row that nobody touched for
  /// years. Leases may run out with it.
  virtual void leave_behind_the_clock(const lock_key& key) = 0;
  /// The version of `key` is no longer behind the clock, as after a failover to a server whose
  /// clock is late.
  virtual void put_ahead_of_the_clock(const lock_key& key) = 0;

  /// Whether the row is as unowned rows have to be, down to the columns that no call shows.
  virtual bool is_blank(const lock_key& key) = 0;

  /// A connection of an application that uses the table. Where the kind says that it has
  /// transactions.
  virtual std::unique_ptr<app_connection> connect();

  /// Locks the row, leased or not, as somebody's own `SELECT ... FOR UPDATE` does, until the
  /// returned object is gone. Where the kind says that foreign transactions exist.
  virtual std::shared_ptr<void> lock_as_a_stranger(const lock_key& key);

  /// A program, and its first arguments, that takes keys of this table in another process: see
  /// `contend`. Where the kind says that the table is shared between processes.
  [[nodiscard]] virtual std::vector<std::string> contender() const;
};

/// A store, and what its database can do. What it cannot do is not tested.
struct bench_kind {
  /// In the names of tests: letters, digits and `_`.
  std::string name;
  std::function<std::unique_ptr<store_bench>()> make;
  /// Applications have transactions that can lock rows, prove leases and commit against versions.
  bool has_transactions = false;
  /// A `commit()` that a callback of `with_row_lock` calls throws before anything is durable.
  bool keeps_callbacks_from_committing = false;
  /// Two of them that have both locked rows can be open at once.
  bool has_transactions_side_by_side = false;
  /// Transactions that know nothing of rowlock can lock its rows.
  bool has_foreign_transactions = false;
  /// Other processes can use the table.
  bool is_shared_between_processes = false;
};

std::ostream& operator<<(std::ostream& out, const bench_kind& shown);

/// The stores to test. Not defined by the suite: who tests a store defines it.
std::vector<bench_kind> every_store();

}  // namespace rowlock::conformance

#endif
