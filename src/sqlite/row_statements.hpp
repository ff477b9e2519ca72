// The statements on the lock table, on one connection.
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

/// A row that may be purged, or not.
struct purgeable_row {
  lock_key key;
  bool is_idle = false;
};

/// Each member runs one statement, once, to its end, and throws `failure`. They are
/// prepared when first used. The database must outlive them.
///
/// Thread-safety: as the database's, one thread at a time.
class row_statements {
 public:
  row_statements(sqlite3* database, table_name table);

  std::optional<seen_row> read(const lock_key& key);
  std::vector<row_state> list();

  /// The version of the grant.
  std::optional<version> acquire(const acquire_request& request);
  bool renew(const renew_request& request);
  bool release(const release_request& request);
  bool write_note(const note_request& request);

  /// Creates the row, or unsets a lease that has run out.
  void prepare(const lock_key& key);

  bool force_release(const force_request& request);
  /// Looks at one row more than the request says.
  std::vector<purgeable_row> find_idle(const purge_request& request);
  bool delete_if_idle(const lock_key& key, std::chrono::microseconds older_than);

  /// The version at the lock; none when there is a live lease.
  std::optional<version> lock(const lock_key& key);
  /// False when the version is not `seen` any more, or the row is somebody's, or closed.
  bool commit(const lock_key& key, version seen);
  void count_failure(const lock_key& key);
  /// Has the file's one place for a writer until the transaction ends.
  void become_writer();

  /// The number of the last migration that was applied; none when there is no table of them. Throws
  /// `error` (rejected) where the lock table was dropped since.
  std::optional<int> last_migration();

 private:
  statement& prepared(std::string_view plain);
  /// Zero without a row; none when there is no such table.
  std::optional<std::int64_t> first_number(std::string_view plain);

  sqlite3* database_;
  table_name table_;
  std::map<std::string_view, statement> prepared_;  // by the text before it was rendered
};

}  // namespace rowlock::sqlite

#endif
