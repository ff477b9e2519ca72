// Settings of a connection, and of a build of SQLite, that the statements do not expect.
#include <sqlite3.h>

#include <string>
#include <vector>

#include "rowlock/lock_table.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/sqlite.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

class SqliteSettings : public sqlite_test {
 protected:
  SqliteSettings() { migrate_sqlite(path(), {}, history_option::with); }

  /// A connection whose settings are other than expected.
  [[nodiscard]] std::unique_ptr<SQLite::Database> turned() const {
    auto database = open();
    database->exec(
        "PRAGMA case_sensitive_like = ON; PRAGMA cell_size_check = ON; PRAGMA count_changes = ON; "
        "PRAGMA foreign_keys = ON; PRAGMA full_column_names = ON; "
        "PRAGMA ignore_check_constraints = ON; PRAGMA read_uncommitted = ON; "
        "PRAGMA recursive_triggers = ON; PRAGMA reverse_unordered_selects = ON; "
        "PRAGMA short_column_names = OFF; PRAGMA trusted_schema = OFF");
    return database;
  }
  [[nodiscard]] int events() const {
    return open()->execAndGet("SELECT count(*) FROM shared_lock_event").getInt();
  }
};

TEST_F(SqliteSettings, OfAConnectionDoNotReachTheStore) {
  SQLite::Database* opened = nullptr;
  sqlite_store rows{[&] {
    auto database = turned();
    database->exec("PRAGMA query_only = ON; PRAGMA locking_mode = EXCLUSIVE");
    sqlite3_db_config(database->getHandle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    opened = database.get();
    return database;
  }};
  std::vector<acquire_request> requests;
  for (const auto* id : {"1", "2", "3"}) requests.push_back(request({"job", id}));
  std::vector<release_request> releases;
  for (const auto& granted : rows.acquire(requests)) {
    ASSERT_EQ(granted.status, acquire_status::granted);
    releases.push_back(
        {.key = requests[releases.size()].key, .owner = mine_, .version = *granted.version});
  }
  EXPECT_EQ(rows.write_note({releases[0].key, mine_, releases[0].version, "n"}),
            change_answer::done);
  EXPECT_EQ(rows.list().size(), 3U);
  EXPECT_EQ(rows.release(releases), std::vector(3, change_answer::done));
  EXPECT_EQ(events(), 3);
  EXPECT_EQ(opened->execAndGet("PRAGMA ignore_check_constraints").getInt(), 0);
  sqlite_store others{path()};
  EXPECT_EQ(acquire(others).status, acquire_status::granted);
}

TEST_F(SqliteSettings, DoNotReachStatementsInATransactionOfTheApplication) {
  sqlite_store rows{path()};
  lock_table locks{rows};
  const auto database = turned();
  {
    sqlite_transaction work{*database};
    EXPECT_TRUE(lock_rows(*database, {key_, other_key_}, no_wait()).acquired());
    work.commit();
  }
  const auto held = *locks.try_acquire_all({key_, other_key_});
  {
    sqlite_transaction work{*database};
    fence(*database, held);
    release_with(*database, held);
    work.commit();
  }
  EXPECT_TRUE(with_optimistic_commit<sqlite_transaction>(*database, key_, [](auto&) {}).acquired());
  EXPECT_EQ(events(), 5);
}

}  // namespace
}  // namespace rowlock::tests
