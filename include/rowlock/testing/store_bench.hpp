// Interface between the conformance suite and a store under test.
#ifndef ROWLOCK_TESTING_STORE_BENCH_HPP
#define ROWLOCK_TESTING_STORE_BENCH_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rowlock/entity.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"

namespace rowlock::conformance {

/// One transaction of an application, with the functions that a store provides for the transactions
/// of its database: `lock_rows`, `fence` and the like. Its destructor rolls back unless committed.
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

  /// The application's own work: adds to a list of notes beside the lock table, without waiting for
  /// other transactions.
  virtual void write_note(const std::string& text) = 0;
  /// The committed notes, and those of this transaction.
  virtual std::vector<std::string> notes() = 0;

  // For kinds with entities: the functions of the same names on a row of the application.
  virtual outcome<void> lock_entity(const entity_table& table, const row_id& id,
                                    const retry_policy& wait);
  virtual outcome<std::int64_t> read_version(const versioned_table& table, const row_id& id);
  virtual commit_result try_commit(const versioned_table& table, const row_id& id,
                                   std::int64_t seen);
  virtual void execute(const std::string& sql);
};

using app_work = std::function<int(app_transaction&)>;

/// One connection, for one transaction at a time. `with_row_lock`, `with_optimistic_commit` and
/// `run_fenced` are the templates of these names, on transactions of this database. Thread-safety:
/// one thread at a time.
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

  std::vector<std::string> notes() { return (*begin())->notes(); }

  /// For kinds with entities: the name of a table of the application, empty at first, with the
  /// columns `id` (number, primary key), `code` (unique text), `hall` and `number` (text and
  /// number, together unique), `version` (number, by default 1) and `changed_at` (time with
  /// microseconds, by default the present).
  [[nodiscard]] virtual std::string seats() const;
};

/// One new, empty lock table in one database. The author of a store derives from it, and the suite
/// makes one for each test. Exceptions fail the test. Thread-safety: `open` and `connect` may be
/// called from any thread, the others from one at a time.
class store_bench {
 public:
  store_bench() = default;
  store_bench(const store_bench&) = delete;
  store_bench& operator=(const store_bench&) = delete;
  virtual ~store_bench() = default;

  /// A store on the table, with its own connections if it has any. `turn_timeout` is how long it
  /// waits to become the writer, on a database with one writer; short in tests that block writers.
  virtual std::shared_ptr<store> open(std::chrono::milliseconds turn_timeout = std::chrono::seconds{
                                          10}) = 0;

  /// Makes the lease of `key` run out now, or opens a closed `key`. Leases with no more time left
  /// than this one may run out too.
  virtual void run_out(const lock_key& key) = 0;

  /// Makes the done mark on `key` expire.
  virtual void let_done_lapse(const lock_key& key) = 0;

  /// Moves the version of `key` far behind the clock, as of a row not touched for years. Leases may
  /// run out with it.
  virtual void leave_behind_the_clock(const lock_key& key) = 0;
  /// Moves the version of `key` to the clock or ahead of it, as after a failover to a late clock.
  virtual void put_ahead_of_the_clock(const lock_key& key) = 0;

  /// Whether the row is as unowned rows must be, including columns that no call shows.
  virtual bool is_blank(const lock_key& key) = 0;

  /// An application's connection that uses the table. Only if the kind has transactions.
  virtual std::unique_ptr<app_connection> connect();

  /// Locks the row, leased or not, as a foreign `SELECT ... FOR UPDATE` does, until the returned
  /// object is gone. Only if the kind has foreign transactions.
  virtual std::shared_ptr<void> lock_as_a_stranger(const lock_key& key);

  /// A program, and its first arguments, that takes keys of this table in another process: see
  /// `contend`. Only if processes can share the table.
  [[nodiscard]] virtual std::vector<std::string> contender() const;
};

/// A store and what its database can do. What it cannot do is not tested.
struct bench_kind {
  /// Part of test names: letters, digits and `_`.
  std::string name;
  std::function<std::unique_ptr<store_bench>()> make;
  /// Applications have transactions that can lock rows, prove leases and commit against versions.
  bool has_transactions = false;
  /// A `commit()` in a callback of `with_row_lock` throws before anything is durable.
  bool keeps_callbacks_from_committing = false;
  /// Two transactions that have locked rows can be open at once.
  bool has_transactions_side_by_side = false;
  /// Applications can lock rows of their own tables, and commit against their versions.
  bool has_entities = false;
  /// Transactions that know nothing of rowlock can lock its rows.
  bool has_foreign_transactions = false;
  /// Other processes can use the table.
  bool is_shared_between_processes = false;
  /// So can a child of fork(), by its own store, while its parent has stores on the table.
  bool is_shared_with_children = false;
};

std::ostream& operator<<(std::ostream& out, const bench_kind& shown);

/// The stores to test. The author of a store defines this function.
std::vector<bench_kind> every_store();

/// The main part of the program that `store_bench::contender` names, called once it has opened its
/// store. Tries once to take a key, writes the result to standard output, and keeps the key until a
/// line or the end of standard input. `arguments` are the last three of its command line: `lease`,
/// `row_lock` or `optimistic_commit`, and the key's type and source id. `connection` is null if the
/// store has no transactions. Throws what the store throws, and `std::invalid_argument`: let that
/// end the program.
void contend(store& rows, std::unique_ptr<app_connection> connection,
             std::span<const std::string, 3> arguments);

}  // namespace rowlock::conformance

#endif
