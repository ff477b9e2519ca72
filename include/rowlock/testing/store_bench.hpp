// What the conformance suite needs to know of a store, and of its applications.
#ifndef ROWLOCK_TESTING_STORE_BENCH_HPP
#define ROWLOCK_TESTING_STORE_BENCH_HPP

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock::conformance {

/// One transaction, and what an application does in it with the functions that a store brings for
/// the transactions of its database: `lock_rows`, `fence` and their kind. Destroying it rolls back
/// what was not committed.
///
/// Thread-safety: one thread at a time.
class app_transaction {
 public:
  app_transaction() = default;
  app_transaction(const app_transaction&) = delete;
  app_transaction& operator=(const app_transaction&) = delete;
  virtual ~app_transaction() = default;

  virtual outcome<row_lock> lock_rows(const lock_keys& keys, const retry_policy& wait) = 0;
  virtual outcome<version> read_version(const lock_key& key) = 0;
  virtual commit_result try_commit(const lock_key& key, version seen) = 0;
  virtual void fence(const fenced_leases& leases) = 0;
  virtual void release_with(const fenced_leases& leases, const release_options& options = {}) = 0;
  virtual void commit() = 0;

  /// The application's own work: a list of notes beside the lock table, to which transactions add
  /// without waiting for each other.
  virtual void write_note(const std::string& text) = 0;
  /// Those that are committed, and this transaction's own.
  virtual std::vector<std::string> notes() = 0;
};

using app_work = std::function<int(app_transaction&)>;

/// One connection, for one transaction at a time. The last three are the templates of their names,
/// on transactions of this database.
///
/// Thread-safety: one thread at a time.
class app_connection {
 public:
  app_connection() = default;
  app_connection(const app_connection&) = delete;
  app_connection& operator=(const app_connection&) = delete;
  virtual ~app_connection() = default;

  virtual outcome<std::unique_ptr<app_transaction>> begin() = 0;
  virtual outcome<int> with_row_lock(const lock_keys& keys, const retry_policy& wait,
                                     const app_work& work) = 0;
  virtual outcome<int> with_optimistic_commit(const lock_key& key, const app_work& work) = 0;
  virtual int run_fenced(const fenced_leases& leases, const app_work& work,
                         const fenced_run_options& options) = 0;

  /// The notes that are committed.
  std::vector<std::string> notes() { return (*begin())->notes(); }
};

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

/// All that the program named by `store_bench::contender` does once it has opened its store: tries
/// once to take a key, says on the standard output what came of it, and keeps the key until a line,
/// or the end, comes on the standard input. `arguments` are the last three of its command line:
/// `lease`, `row_lock` or `optimistic_commit`, and the key's type and source id. `connection` is
/// null where the store has no transactions. Throws what the store throws, and
/// `std::invalid_argument`: let that end the program.
void contend(store& rows, std::unique_ptr<app_connection> connection,
             std::span<const std::string, 3> arguments);

}  // namespace rowlock::conformance

#endif
