// What a SQLite store says about a file that it cannot use.
#include <filesystem>
#include <fstream>

#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

class SqliteFile : public sqlite_test {};

TEST_F(SqliteFile, WithoutAFileSaysWhatToRun) {
  sqlite_store rows{path()};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "`rowlock migrate sqlite://" + path() + "`"));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(SqliteFile, EncodesThePathInTheUrlThatItSays) {
  sqlite_store rows{path("50% of it.db")};
  EXPECT_TRUE(
      says(error_of([&] { acquire(rows); }), "sqlite://" + path("50%25%20of%20it.db") + "`"));
}

TEST_F(SqliteFile, OnAFolderIsRejected) {
  sqlite_store rows{path("")};
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::rejected);
}

TEST_F(SqliteFile, OnAFileThatIsNoDatabaseIsRejected) {
  std::ofstream{path()} << std::string(4096, 'x');
  sqlite_store rows{path()};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "not a SQLite database"));
}

TEST_F(SqliteFile, OnAnEmptyPathIsMisuse) {
  sqlite_store rows{""};
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::misuse);
}

TEST_F(SqliteFile, WithATurnThatCannotBeWaitedForIsMisuse) {
  for (const auto wrong : {-1ms, std::chrono::milliseconds::max()}) {
    EXPECT_EQ(error_of([&] {
                sqlite_store{"locks.db", {.turn_timeout = wrong}};
              }).kind(),
              errc::misuse);
  }
}

TEST_F(SqliteFile, OnAUrlIsMisuseAndSaysToGiveThePath) {
  sqlite_store rows{"sqlite:///var/locks.db"};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::misuse);
  EXPECT_TRUE(says(thrown, "give the path of the file"));
}

TEST_F(SqliteFile, InMemoryIsToldToBeNoFileInsteadOfWhatToRun) {
  sqlite_store no_file{path(":memory:")};
  const auto by_path = error_of([&] { acquire(no_file); });
  EXPECT_EQ(by_path.kind(), errc::rejected);
  EXPECT_TRUE(says(by_path, "memory_store"));
  EXPECT_FALSE(says(by_path, "rowlock migrate"));

  sqlite_store made{[] {
    return std::make_unique<SQLite::Database>(":memory:",
                                              SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  }};
  const auto by_connection = error_of([&] { acquire(made); });
  EXPECT_EQ(by_connection.kind(), errc::rejected);
  EXPECT_TRUE(says(by_connection, "sqlite_migrations()"));
  EXPECT_FALSE(says(by_connection, "rowlock migrate"));

  sqlite_store works{[] {
    auto database = std::make_unique<SQLite::Database>(
        ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database->exec(sqlite_migrations().front().up);
    return database;
  }};
  EXPECT_EQ(acquire(works).status, acquire_status::granted);
}

TEST_F(SqliteFile, TakesEveryPathForThatOfAFile) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(path(""));
  for (const std::string name : {":memory:", "file:locks?mode=memory"}) {
    migrate_sqlite(name);
    EXPECT_TRUE(std::filesystem::exists(name)) << name;
    sqlite_store rows{name};
    EXPECT_EQ(acquire(rows).status, acquire_status::granted) << name;
  }
  std::filesystem::current_path(before);
}

TEST_F(SqliteFile, WithoutATableSaysWhatToRun) {
  std::ofstream{path()}.close();
  sqlite_store rows{path(), {.table = "my_locks"}};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "`rowlock migrate sqlite://" + path() + " --table my_locks`"));
}

TEST_F(SqliteFile, ThatWasReplacedMeanwhileIsOpenedAnewAndItsLeasesAreLost) {
  migrate_sqlite(path());
  sqlite_store rows{path()};
  const auto granted = acquire(rows).version.value();
  for (const auto* name : {"locks.db", "locks.db-wal", "locks.db-shm"}) {
    std::filesystem::remove(path(name));
  }
  migrate_sqlite(path());
  EXPECT_EQ(rows.renew(std::array{renew_request{key_, mine_, granted, 1h}}).at(0),
            change_answer::lost);
  sqlite_store others{path()};
  EXPECT_EQ(acquire(others).status, acquire_status::granted);
}

TEST_F(SqliteFile, OnAnOlderSchemaSaysWhatToRun) {
  migrate_sqlite(path());
  open()->exec("DELETE FROM shared_lock_schema");
  sqlite_store rows{path()};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "version 0, older than version 1"));
  EXPECT_TRUE(says(thrown, "`rowlock migrate sqlite://" + path() + "`"));
}

TEST_F(SqliteFile, OnANewerSchemaSaysThatRowlockIsOld) {
  migrate_sqlite(path());
  open()->exec("INSERT INTO shared_lock_schema (number, name) VALUES (7, '007_later')");
  sqlite_store rows{path()};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "version 7, newer than version 1"));
  EXPECT_TRUE(says(thrown, "deploy a newer rowlock"));
}

TEST_F(SqliteFile, ChecksTheSchemaAgainAfterTheCheckHasFailed) {
  sqlite_store rows{path()};
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::rejected);
  migrate_sqlite(path());
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
}

TEST_F(SqliteFile, SaysWhatToRunWhenTheTableIsGoneLater) {
  migrate_sqlite(path());
  sqlite_store rows{path()};
  acquire(rows);
  open()->exec(sqlite_migrations().front().down);
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "`rowlock migrate sqlite://" + path() + "`"));
}

TEST_F(SqliteFile, SwitchesAFileThatAnotherToolMigratedToWal) {
  SQLite::Database{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(
      sqlite_migrations().front().up);
  sqlite_store rows{path()};
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
  EXPECT_EQ(text_of("PRAGMA journal_mode"), "wal");
}

}  // namespace
}  // namespace rowlock::tests
