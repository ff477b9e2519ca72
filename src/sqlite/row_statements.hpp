// The prepared statements on the lock table, on one connection.
#ifndef ROWLOCK_SQLITE_ROW_STATEMENTS_HPP
#define ROWLOCK_SQLITE_ROW_STATEMENTS_HPP

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/table_name.hpp"
#include "sqlite/statement.hpp"
#include "sqlite/unfit_history.hpp"
#include "store/refusal_of.hpp"

namespace rowlock::sqlite {

using detail::busy_at;
using detail::held_by;
using detail::seen_row;

/// A duration from now, as a modifier of strftime. SQLite counts in milliseconds: rounds up, so
/// that the database never frees a row sooner than its holder believes.
std::string as_modifier(std::chrono::microseconds from_now);

/// One execution of a prepared statement, reset at the end. A SELECT that is not reset keeps its
/// read transaction open.
class execution {
 public:
  template <class... Values>
  explicit execution(statement& prepared, const Values&... values) : statement_{prepared} {
    [[maybe_unused]] int place = 0;
    (statement_.bind(++place, values), ...);
  }
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;
  ~execution() { statement_.reset(); }

  [[nodiscard]] bool has_next_row() { return statement_.has_next_row(); }

  int changed_rows() { return statement_.changed_rows(); }

  /// Runs the statement to its end: it commits there, and a destructor would swallow a failure.
  std::optional<version> only_version() {
    std::optional<version> only;
    while (statement_.has_next_row()) only = version{statement_.integer(0)};
    return only;
  }

 private:
  statement& statement_;
};

/// A row, and whether it may be purged.
struct purgeable_row {
  lock_key key;
  bool is_idle = false;
};

/// Each member runs one statement, once, to its end, and throws `failure`; a write is run once more
/// after a history that stopped it was ended. Statements are prepared
/// at first use. The database must outlive this object.
///
/// Thread-safety: as the database, one thread at a time.
class row_statements {
 public:
  row_statements(sqlite3* database, table_name table);

  std::optional<seen_row> read(const lock_key& key);
  std::vector<row_state> list(const list_request& request);
  database_time now();
  /// Two statements at most, after one that looks whether there is a history.
  history_page history(const history_request& request);
  std::size_t purge_history(const history_purge_request& request);

  /// Executes `text`, whose parameters are `values` in their order. Returns how many rows it
  /// changed.
  template <class... Values>
  int change(std::string_view text, const Values&... values) {
    return write([&] { return execution{prepared(text), values...}.changed_rows(); });
  }

  /// Returns the version of the grant; none if the row is not granted.
  std::optional<version> acquire(const acquire_request& request);
  bool release(const release_request& request);

  /// Creates the row, or unsets an expired lease.
  void prepare(const lock_key& key);

  /// Reads one row more than requested, so that the caller knows whether there are more.
  std::vector<purgeable_row> find_idle(const purge_request& request);

  /// Returns the version of the locked row; none if it has a live lease or is closed.
  std::optional<version> lock(const lock_key& key);

  /// Returns the number of the last applied migration; none if there is no table of migrations.
  /// Throws `error` (rejected) if the lock table was dropped since.
  std::optional<int> last_migration();

 private:
  struct history_parts {
    bool has_table = false;
    bool has_triggers = false;
  };
  history_parts parts_of_history();
  std::vector<lock_event> events(std::string_view text, const history_request& request);
  /// Returns the version that `text` returns; none without a row.
  template <class... Values>
  std::optional<version> version_from(std::string_view text, const Values&... values) {
    return write([&] { return execution{prepared(text), values...}.only_version(); });
  }
  /// Executes a statement that changes the lock table, once more if its triggers were in the way.
  /// (If the table of their events is there, it may have been made anew in between.)
  template <class Execute>
  auto write(const Execute& once) {
    try {
      return once();
    } catch (const failure& thrown) {
      if (!is_about_schema(thrown)) throw;
    }
    end_unfit_history(database_, table_);
    return once();
  }
  statement& prepared(std::string_view plain);
  /// Returns zero without a row; none if there is no such table.
  std::optional<std::int64_t> first_number(std::string_view plain);

  sqlite3* database_;
  table_name table_;
  std::map<std::string_view, statement> prepared_;  // by the text before rendering
};

}  // namespace rowlock::sqlite

#endif
