// The application that the locks protect: a connection to it, and what it writes.
#ifndef ROWLOCK_TESTS_FAULTS_BOOKS_HPP
#define ROWLOCK_TESTS_FAULTS_BOOKS_HPP

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "faults/history.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::tests {

/// Executes SQL: in a transaction, or on a connection outside any.
class sql_line {
 public:
  sql_line() = default;
  sql_line(const sql_line&) = delete;
  sql_line& operator=(const sql_line&) = delete;
  virtual ~sql_line() = default;

  virtual void execute(const std::string& sql) = 0;
  /// Of the first row.
  virtual std::int64_t number(const std::string& sql) = 0;
  using row = std::vector<std::optional<std::int64_t>>;
  virtual std::vector<row> rows(const std::string& sql) = 0;
};

/// Transactions on one connection.
class books {
 public:
  using task = std::function<void(sql_line&)>;

  books() = default;
  books(const books&) = delete;
  books& operator=(const books&) = delete;
  virtual ~books() = default;

  virtual sql_line& outside() = 0;
  /// From here on it sees what was committed anywhere before.
  virtual void catch_up() {}
  virtual void run_fenced(const lease& held, const task& work,
                          const fenced_run_options& options) = 0;
  /// What no application should do.
  virtual void run_unfenced(const task& work) = 0;
  virtual outcome<void> with_row_lock(const lock_key& key, const retry_policy& wait,
                                      const task& work) = 0;

  /// Whether another session can write while one of our transactions is open.
  [[nodiscard]] virtual bool has_transactions_side_by_side() const noexcept = 0;
  /// Whether writes go to several servers, which check only at the commit whether they go together:
  /// then no row lock covers all of them, and each server numbers rows in an order of its own.
  [[nodiscard]] virtual bool has_several_writers() const { return false; }
  /// The type of a column that numbers rows in the order of writing: the next number is never below
  /// one that was given before.
  [[nodiscard]] virtual std::string numbered_column() const = 0;
};

std::unique_ptr<books> open_books(const database_url& url);
/// The locks beside them. All servers of a test have the same clock.
std::unique_ptr<store> open_locks(const database_url& url);
std::unique_ptr<books> open_sqlite_books(const std::string& path);
std::unique_ptr<books> open_postgres_books(const std::string& url);
/// On a connection string of SOCI's.
std::unique_ptr<books> open_soci_books(const std::string& connection_string);

/// Half of the keys protect a counter (workload 1), half of them rows that are only added
/// (workload 2).
inline constexpr int keys = 16;
lock_key lock_key_of(int key);

void create_books(books& opened);
/// As before the first entry.
void clear_books(books& opened);
history read_books(books& opened);

/// What a holder that acquired the key with `granted` has to know of it before it writes.
entry begin_entry(sql_line& line, int key, version granted);
void write_entry(sql_line& line, const entry& written);

/// The version that the lock table shows.
version version_of(sql_line& line, int key);
/// Whether a holder with a greater version has committed.
bool has_successor(sql_line& line, const entry& begun);

}  // namespace rowlock::tests

#endif
