// The history on SQLite: where its table is not as the triggers need it, the history is ended.
#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

class SqliteHistory : public sqlite_test {
 protected:
  SqliteHistory() { migrate_sqlite(path(), {}, history_option::with); }

  void drop_table() const { open()->exec("DROP TABLE shared_lock_event"); }
  [[nodiscard]] bool is_ended() const {
    return text_of("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") == "0";
  }
};

TEST_F(SqliteHistory, WithoutItsTableIsEndedByTheFirstLock) {
  drop_table();
  sqlite_store rows{path()};
  lock_table locks{rows};
  EXPECT_EQ(locks.try_acquire(key_)->release(), release_result::released);
  EXPECT_TRUE(is_ended());
}

TEST_F(SqliteHistory, WhoseTableIsDroppedWhileALeaseIsHeldIsEndedByTheRelease) {
  sqlite_store rows{path()};
  lock_table locks{rows};
  EXPECT_EQ(locks.try_acquire(key_)->release(), release_result::released);
  auto held = locks.try_acquire(key_);
  drop_table();
  EXPECT_EQ(held->release(), release_result::released);
  EXPECT_TRUE(is_ended());
}

TEST_F(SqliteHistory, WithAnotherTableInItsPlaceIsEnded) {
  drop_table();
  open()->exec("CREATE TABLE shared_lock_event (number)");
  sqlite_store rows{path()};
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
  EXPECT_TRUE(is_ended());
  const auto unreadable = error_of([&] { (void)rows.history({}); });
  EXPECT_TRUE(says(unreadable, "shared_lock_event does not take the events of a history"));
}

// SQLite would refuse every change of a held key for it.
TEST_F(SqliteHistory, WhoseTableTakesNoEventsIsNotBegun) {
  migrate_sqlite(path(), {}, history_option::without);
  drop_table();
  open()->exec(
      "CREATE TABLE shared_lock_event (at, lock_type, source_id, what, version, token, holder, "
      "since,"
      " until, reason, correlation_id, extra NOT NULL)");
  const auto refused = error_of([&] { migrate_sqlite(path(), {}, history_option::with); });
  EXPECT_EQ(refused.kind(), errc::rejected);
  EXPECT_TRUE(says(refused, "shared_lock_event does not take the events of a history"));
  EXPECT_TRUE(is_ended());
}

TEST_F(SqliteHistory, WhoseTableWasRenamedAndDroppedIsEnded) {
  open()->exec("ALTER TABLE shared_lock_event RENAME TO old_events; DROP TABLE old_events");
  sqlite_store rows{path()};
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
  EXPECT_TRUE(is_ended());
}

TEST_F(SqliteHistory, GoesOnWhenAnotherTriggerNamesWhatIsMissing) {
  sqlite_store rows{path()};
  const std::array held{release_request{key_, mine_, *acquire(rows).version}};
  open()->exec(
      "CREATE TRIGGER app AFTER UPDATE ON shared_lock BEGIN SELECT shared_lock_event_of_app(); "
      "END");
  EXPECT_EQ(error_of([&] { (void)rows.release(held); }).kind(), errc::rejected);
  open()->exec("DROP TRIGGER app");
  EXPECT_EQ(rows.release(held).front(), change_answer::done);
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock_event"), "1");
}

TEST_F(SqliteHistory, OfAnAttachedFileIsEndedInThatFile) {
  const auto other = path("other.db");
  migrate_sqlite(other, {}, history_option::with);
  SQLite::Database{other, SQLite::OPEN_READWRITE}.exec("DROP TABLE shared_lock_event");
  const auto database = open();
  database->exec("ATTACH '" + other + "' AS other");
  // In WAL mode an attached lock table is not written.
  database->exec("PRAGMA main.journal_mode = DELETE");
  database->exec("PRAGMA other.journal_mode = DELETE");
  sqlite_transaction work{*database};
  const auto seen = read_version(*database, key_, "other.shared_lock");
  EXPECT_EQ(try_commit(*database, key_, *seen, "other.shared_lock"), commit_result::committed);
  work.commit();
  EXPECT_FALSE(is_ended());
}

// The triggers are dropped by the transaction of the application, and with it.
TEST_F(SqliteHistory, WithoutItsTableIsEndedByARowLockThatIsCommitted) {
  drop_table();
  const auto database = open();
  {
    const sqlite_transaction work{*database};
    EXPECT_TRUE(lock_rows(*database, key_, no_wait()).acquired());
  }
  EXPECT_FALSE(is_ended());
  sqlite_transaction work{*database};
  EXPECT_TRUE(lock_rows(*database, key_, no_wait()).acquired());
  work.commit();
  EXPECT_TRUE(is_ended());
}

}  // namespace
}  // namespace rowlock::tests
