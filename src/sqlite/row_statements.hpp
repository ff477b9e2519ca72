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
#include "store/refusal_of.hpp"

namespace rowlock::sqlite {

using detail::busy_at;
using detail::held_by;
using detail::seen_row;

/// A row, and whether it may be purged.
struct purgeable_row {
  lock_key key;
  bool is_idle = false;
};

/// Each member runs one statement, once, to its end, and throws `failure`. Statements are prepared
/// at first use. The database must outlive this object.
///
/// Thread-safety: as the database, one thread at a time.
class row_statements {
 public:
  row_statements(sqlite3* database, table_name table);

  std::optional<seen_row> read(const lock_key& key);
  std::vector<row_state> list();

  /// Returns the version of the grant; none if the row is not granted.
  std::optional<version> acquire(const acquire_request& request);
  bool renew(const renew_request& request);
  bool release(const release_request& request);
  bool write_note(const note_request& request);

  /// Creates the row, or unsets an expired lease.
  void prepare(const lock_key& key);

  bool force_release(const force_request& request);
  /// Reads one row more than requested, so that the caller knows whether there are more.
  std::vector<purgeable_row> find_idle(const purge_request& request);
  bool delete_if_idle(const lock_key& key, std::chrono::microseconds older_than);

  /// Returns the version of the locked row; none if it has a live lease or is closed.
  std::optional<version> lock(const lock_key& key);
  /// False if the version is not `seen` any more, or the row is owned or closed.
  bool commit(const lock_key& key, version seen);
  void count_failure(const lock_key& key);
  /// Makes this transaction the one writer of the table's file, until it ends.
  void become_writer();

  /// Returns the number of the last applied migration; none if there is no table of migrations.
  /// Throws `error` (rejected) if the lock table was dropped since.
  std::optional<int> last_migration();

 private:
  statement& prepared(std::string_view plain);
  /// Returns zero without a row; none if there is no such table.
  std::optional<std::int64_t> first_number(std::string_view plain);

  sqlite3* database_;
  table_name table_;
  std::map<std::string_view, statement> prepared_;  // by the text before rendering
};

}  // namespace rowlock::sqlite

#endif
