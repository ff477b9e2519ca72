// What a store tells the conformance suite about itself, so that the suite never asks which it is.
#ifndef ROWLOCK_TESTS_SUPPORT_STORE_BENCH_HPP
#define ROWLOCK_TESTS_SUPPORT_STORE_BENCH_HPP

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "rowlock/store.hpp"
#include "support/application.hpp"

namespace rowlock::tests {

/// One fresh, empty lock table in one database.
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

  /// A connection of an application that uses the table.
  virtual std::unique_ptr<app_connection> connect() = 0;

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

  /// Locks the row, leased or not, as somebody's own `SELECT ... FOR UPDATE` does, until the
  /// returned object is gone. Where the kind says that foreign transactions exist.
  virtual std::shared_ptr<void> lock_as_a_stranger(const lock_key& key);

  /// Where another process finds the table. Where the kind says that it can.
  [[nodiscard]] virtual std::string url() const;
  [[nodiscard]] virtual std::string table() const;
};

struct bench_kind {
  std::string name;
  std::function<std::unique_ptr<store_bench>()> make;
  /// Other processes can use the table.
  bool is_shared_between_processes = false;
  /// Two transactions that have both locked rows can be open at once.
  bool has_transactions_side_by_side = false;
  /// Transactions that know nothing of rowlock can lock its rows.
  bool has_foreign_transactions = false;
};

std::ostream& operator<<(std::ostream& out, const bench_kind& shown);

/// For INSTANTIATE_TEST_SUITE_P.
std::vector<bench_kind> every_store();
/// The same, and each again with other requests in every call of its store: a call of one request
/// and one of several are not made by the same statement.
std::vector<bench_kind> alone_and_in_company(const std::vector<bench_kind>& kinds);
std::vector<bench_kind> stores_shared_between_processes();
std::vector<bench_kind> stores_with_transactions_side_by_side();
std::vector<bench_kind> stores_with_foreign_transactions();

std::unique_ptr<store_bench> make_memory_bench();
std::unique_ptr<store_bench> make_sqlite_bench();
std::unique_ptr<store_bench> make_postgres_bench();
std::unique_ptr<store_bench> make_soci_mysql_bench();
std::unique_ptr<store_bench> make_soci_postgres_bench();
std::unique_ptr<store_bench> make_soci_sqlite_bench();

}  // namespace rowlock::tests

#endif
