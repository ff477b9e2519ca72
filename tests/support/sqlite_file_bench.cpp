// The lock table in a fresh SQLite file, whatever driver reaches it.
#include "support/sqlite_file_bench.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <stdexcept>

#include "rowlock/sqlite_store.hpp"
#include "support/database_application.hpp"

namespace rowlock::tests {

sqlite_file_bench::sqlite_file_bench(history_option history) {
  migrate_sqlite(path_, {}, history);
  create_sqlite_application(path_);
}

void sqlite_file_bench::run_out(const lock_key& key) {
  on_row(key,
         "update shared_lock "
         "set expires_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 second')");
}

void sqlite_file_bench::let_done_lapse(const lock_key& key) {
  on_row(key, "update shared_lock set done_until = strftime('%Y-%m-%d %H:%M:%f', 'now')");
}

void sqlite_file_bench::leave_behind_the_clock(const lock_key& key) {
  on_row(key, "update shared_lock set version = 1");
}

void sqlite_file_bench::put_ahead_of_the_clock(const lock_key& key) {
  on_row(key, "update shared_lock set version = version + 3600000000");
}

bool sqlite_file_bench::is_blank(const lock_key& key) {
  return on_row(key,
                "select owner is null and expires_at = '1970-01-01 00:00:00.000' "
                "from shared_lock") == 1;
}

std::shared_ptr<void> sqlite_file_bench::lock_as_a_stranger(const lock_key& /*key*/) {
  // A writer of the file has all of its rows. What is not committed is rolled back.
  auto stranger = std::make_shared<SQLite::Database>(path_, SQLite::OPEN_READWRITE);
  stranger->exec("begin immediate");
  return stranger;
}

int sqlite_file_bench::on_row(const lock_key& key, const std::string& sql) {
  SQLite::Database database{path_, SQLite::OPEN_READWRITE};
  SQLite::Statement statement{database, sql + " where lock_type = ? and source_id = ?"};
  statement.bind(1, key.type);
  statement.bind(2, key.source_id);
  if (statement.executeStep()) return statement.getColumn(0).getInt();
  if (database.getChanges() != 1) throw std::logic_error{"there is no such row"};
  return 1;
}

}  // namespace rowlock::tests
