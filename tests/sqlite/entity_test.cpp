// Locks and versions of the application's own rows in SQLite files.
#include <cstdint>
#include <string>

#include "rowlock/retry.hpp"
#include "rowlock/sqlite.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

class EntityInAttachedFile : public sqlite_test {
 protected:
  EntityInAttachedFile() {
    const SQLite::Database made{path("app.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    database_.exec("ATTACH '" + path("app.db") + "' AS app");
    database_.exec("PRAGMA app.journal_mode = WAL");  // a reader does not block a writer
    database_.exec("CREATE TABLE app.person (id INTEGER PRIMARY KEY, version, changed_at)");
    database_.exec("INSERT INTO app.person (id) VALUES (1)");
    database_.exec("CREATE TABLE note (text)");
  }

  void set(const std::string& column, const std::string& value) {
    database_.exec("UPDATE app.person SET " + column + " = " + value);
  }
  [[nodiscard]] static versioned_table versions(version_kind kind) {
    const bool is_time = kind == version_kind::timestamp;
    return {.table = "app.person",
            .id_column = "id",
            .version_column = is_time ? "changed_at" : "version",
            .version_is = kind};
  }
  /// What the column's value is read as.
  std::int64_t microseconds_of(const std::string& text) {
    set("changed_at", "'" + text + "'");
    const sqlite_transaction reading{database_};
    return *read_version(database_, versions(version_kind::timestamp), 1);
  }
  errc refused_version(version_kind kind) {
    const sqlite_transaction reading{database_};
    return error_of([&] { (void)read_version(database_, versions(kind), 1); }).kind();
  }

  SQLite::Database database_{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  const entity_table people_{.table = "app.person", .id_column = "id"};
};

TEST_F(EntityInAttachedFile, OfAnAttachedFileIsLockedThereByATransactionThatWroteAnotherOne) {
  database_.exec("BEGIN");
  database_.exec("INSERT INTO note VALUES ('main is written')");
  ASSERT_TRUE(lock_entity(database_, people_, 1, no_wait()).acquired());
  SQLite::Database rival{path("app.db"), SQLite::OPEN_READWRITE};
  EXPECT_THROW(rival.exec("UPDATE person SET version = 7"), SQLite::Exception);
  database_.exec("COMMIT");
  EXPECT_NO_THROW(rival.exec("UPDATE person SET version = 7"));
}

TEST_F(EntityInAttachedFile, OfAnAttachedFileThatHasAnotherWriterIsBusyAndTheTransactionGoesOn) {
  SQLite::Database rival{path("app.db"), SQLite::OPEN_READWRITE};
  rival.exec("BEGIN IMMEDIATE");
  database_.exec("BEGIN");
  database_.exec("INSERT INTO note VALUES ('goes on')");
  EXPECT_EQ(lock_entity(database_, people_, 1, no_wait()).refusal().reason, refusal_reason::busy);
  rival.exec("COMMIT");
  EXPECT_TRUE(lock_entity(database_, people_, 1, no_wait()).acquired());
  database_.exec("COMMIT");
  EXPECT_EQ(text_of("SELECT text FROM note"), "goes on");
}

TEST_F(EntityInAttachedFile, OfAnAttachedFileThatWasWrittenAfterItWasReadIsStale) {
  database_.exec("BEGIN");
  database_.exec("INSERT INTO note VALUES ('main is written')");
  database_.execAndGet("SELECT count(*) FROM app.person");
  SQLite::Database{path("app.db"), SQLite::OPEN_READWRITE}.exec("UPDATE person SET version = 7");
  EXPECT_EQ(lock_entity(database_, people_, 1, no_wait()).refusal().reason, refusal_reason::stale);
  database_.exec("ROLLBACK");
}

TEST_F(EntityInAttachedFile, OfATimeIsReadToTheMicrosecondWithoutRounding) {
  EXPECT_EQ(microseconds_of("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(microseconds_of("1970-01-01 00:00:01.9995"), 1'999'500);
  EXPECT_EQ(microseconds_of("1970-01-01 00:00:01.999999"), 1'999'999);
  EXPECT_EQ(microseconds_of("1969-12-31 23:59:59.999999"), -1);
  EXPECT_EQ(microseconds_of("0000-01-01 00:00:00.5"), -62'167'219'199'500'000);
  EXPECT_EQ(microseconds_of("9999-12-31 23:59:59.999999"), 253'402'300'799'999'999);
}

TEST_F(EntityInAttachedFile, OfATimeBefore1970MovesToTheClock) {
  const auto seen = microseconds_of("1969-12-31 23:59:59.9999");
  sqlite_transaction work{database_};
  const auto table = versions(version_kind::timestamp);
  EXPECT_EQ(try_commit(database_, table, 1, seen), commit_result::committed);
  EXPECT_GT(*read_version(database_, table, 1), 0);
}

TEST_F(EntityInAttachedFile, OfAValueThatIsNoTimeIsRejected) {
  for (const auto* value :
       {"'2026-01-02T03:04:05'", "'2026-01-02 03:04:05Z'", "'2026-01-02 03:04:05+01:00'",
        "'2026-01-02 03:04:05.1234567'", "'2026-01-02 03:04:05.'", "'2026-01-02 03:04:05.12x'",
        "'now'", "'2026-01-02'", "'2026-13-02 03:04:05'", "''", "1767323045", "1.5"}) {
    set("changed_at", value);
    EXPECT_EQ(refused_version(version_kind::timestamp), errc::rejected) << value;
  }
}

TEST_F(EntityInAttachedFile, OfAValueThatIsNoIntegerIsRejected) {
  for (const auto* value : {"'abc'", "'7'", "1.5", "x'07'"}) {
    set("version", value);
    EXPECT_EQ(refused_version(version_kind::number), errc::rejected) << value;
  }
}

TEST_F(EntityInAttachedFile, OfAViewIsRejected) {
  database_.exec("CREATE TEMP VIEW seen AS SELECT * FROM app.person");
  database_.exec("CREATE TEMP TRIGGER deleting INSTEAD OF DELETE ON seen BEGIN SELECT 1; END");
  const sqlite_transaction work{database_};
  const auto caught = error_of(
      [&] { (void)lock_entity(database_, {.table = "seen", .id_column = "id"}, 1, no_wait()); });
  EXPECT_EQ(caught.kind(), errc::rejected);
  EXPECT_TRUE(says(caught, "is a view"));
}

TEST_F(EntityInAttachedFile, OfAVersionThatATriggerSetsBackIsRejected) {
  set("version", "7");
  set("changed_at", "'2026-01-02 03:04:05'");
  database_.exec(
      "CREATE TRIGGER app.set_back AFTER UPDATE ON person BEGIN UPDATE person "
      "SET version = old.version, changed_at = old.changed_at WHERE id = new.id; END");
  for (const auto kind : {version_kind::number, version_kind::timestamp}) {
    const sqlite_transaction work{database_};
    const auto seen = *read_version(database_, versions(kind), 1);
    EXPECT_EQ(error_of([&] { (void)try_commit(database_, versions(kind), 1, seen); }).kind(),
              errc::rejected);
  }
}

// It would be a real number.
TEST_F(EntityInAttachedFile, OfTheLastNumberIsMisuse) {
  set("version", "9223372036854775807");
  const sqlite_transaction work{database_};
  const auto table = versions(version_kind::number);
  const auto seen = *read_version(database_, table, 1);
  EXPECT_EQ(error_of([&] { (void)try_commit(database_, table, 1, seen); }).kind(), errc::misuse);
}

// It would be null.
TEST_F(EntityInAttachedFile, OfATimeThatNoneCouldFollowIsMisuse) {
  const auto last = microseconds_of("9999-12-31 23:59:59.999999");
  const sqlite_transaction work{database_};
  const auto table = versions(version_kind::timestamp);
  EXPECT_EQ(error_of([&] { (void)try_commit(database_, table, 1, last); }).kind(), errc::misuse);
  EXPECT_EQ(try_commit(database_, table, 1, last - 1), commit_result::stale);
}

}  // namespace
}  // namespace rowlock::tests
