// A store on a SQLite file by way of SOCI.
#include <filesystem>
#include <fstream>

#include "rowlock/soci_store.hpp"
#include "soci/soci_sqlite_files.hpp"
#include "sqlite/sqlite_queue.hpp"

namespace rowlock::tests {
namespace {

class SociSqlite : public soci_sqlite_test {};

TEST_F(SociSqlite, WithoutAFileSaysWhatToRunAndCreatesNone) {
  soci_store rows{url()};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "`rowlock migrate sqlite://" + path() + "`"));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(SociSqlite, MigratesAFileThatItCreates) {
  EXPECT_EQ(migrate_soci(url()).size(), sqlite_migrations().size());
  EXPECT_EQ(migrate_soci(url()).size(), 0U);
  soci_store rows{url()};
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
  sqlite_store same{path()};
  EXPECT_TRUE(same.read(std::array{key_}).at(0)->owned);
}

TEST_F(SociSqlite, WithoutATableSaysWhatToRun) {
  std::ofstream{path()}.close();
  soci_store rows{url(), {.table = "my_locks"}};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "`rowlock migrate sqlite://" + path() + " --table my_locks`"));
}

TEST_F(SociSqlite, OnAFileThatIsNoDatabaseIsRejected) {
  std::ofstream{path()} << std::string(4096, 'x');
  soci_store rows{url()};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "not a SQLite database"));
}

TEST_F(SociSqlite, TakesTheParametersThatSociTakes) {
  migrate_sqlite(path("a file.db"));
  migrate_sqlite(path("file.db"));
  for (const auto& parameters :
       {path("file.db"), path("a file.db"), "db=" + path("file.db"), "dbname=" + path("file.db"),
        "timeout=1 db=" + path("file.db") + " synchronous=off", "db=\"" + path("a file.db") + "\"",
        "db=\"" + path("a file.db") + "\" timeout=1"}) {
    soci_store rows{"sqlite3://" + parameters};
    EXPECT_NO_THROW(acquire(rows)) << parameters;
  }
}

class SociSqliteParameters : public testing::TestWithParam<std::string> {};

TEST_P(SociSqliteParameters, ThatCannotWorkAreMisuse) {
  const auto thrown = error_of([] { const soci_store rows{"sqlite3://" + GetParam()}; });
  EXPECT_EQ(thrown.kind(), errc::misuse);
  EXPECT_TRUE(says(thrown, "give its path"));
}

INSTANTIATE_TEST_SUITE_P(Each, SociSqliteParameters,
                         testing::Values("", ":memory:", "db=:memory:", "file:locks.db",
                                         "db=file:locks.db", "db=", "timeout=5",
                                         "db=locks.db readonly=1", "db=locks.db vfs=unix-none",
                                         "db=locks.db shared_cache=true", "db=\"a\"b timeout=1"));

class SociSqliteStore : public migrated_soci_sqlite_test {};

TEST_F(SociSqliteStore, OnAPoolSendsOneStatementAtATime) {
  const auto pool = pool_on(path());
  EXPECT_EQ((soci_store{*pool, {.pool_size = 4}}.limits().statements_at_once), 1);
}

TEST_F(SociSqliteStore, OnAPoolSetsItsSessionsUp) {
  open()->exec("PRAGMA journal_mode = DELETE");
  const auto pool = pool_on(path());
  pool->at(0) << "PRAGMA synchronous = OFF";
  {
    soci_store rows{*pool, {.pool_size = 1}};
    EXPECT_EQ(acquire(rows).status, acquire_status::granted);
  }
  std::string mode;
  int synchronous = 0;
  pool->at(0) << "PRAGMA journal_mode", soci::into(mode);
  pool->at(0) << "PRAGMA synchronous", soci::into(synchronous);
  EXPECT_EQ(mode, "wal");
  EXPECT_EQ(synchronous, 2);  // FULL
}

TEST_F(SociSqliteStore, OnAPoolInMemoryIsRejected) {
  const auto pool = pool_on(":memory:");
  soci_store rows{*pool};
  const auto thrown = error_of([&] { acquire(rows); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "the path of a file"));
}

TEST_F(SociSqliteStore, OnASessionWithAnOpenTransactionIsMisuse) {
  const auto pool = pool_on(path());
  pool->at(0).begin();
  soci_store rows{*pool};
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::misuse);
}

TEST_F(SociSqliteStore, OnAFileThatWasReplacedOpensItAnewAndItsLeasesAreLost) {
  const auto pool = pool_on(path());
  soci_store on_pool{*pool};
  soci_store on_its_own{url()};
  for (auto* rows : {&on_pool, &on_its_own}) {
    const auto granted = acquire(*rows).version.value();
    for (const auto* name : {"locks.db", "locks.db-wal", "locks.db-shm"}) {
      std::filesystem::remove(path(name));
    }
    migrate_sqlite(path());
    EXPECT_EQ(rows->renew(std::array{renew_request{key_, mine_, granted, 1h}}).at(0),
              change_answer::lost);
    sqlite_store others{path()};
    EXPECT_EQ(acquire(others).status, acquire_status::granted);
  }
}

TEST_F(SociSqliteStore, OnAFileThatWasDeletedIsRejectedAndCreatesNone) {
  const auto pool = pool_on(path());
  soci_store rows{*pool};
  acquire(rows);
  std::filesystem::remove(path());
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::rejected);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(SociSqliteStore, LooksAtTheSchemaAgainAfterAnError) {
  soci_store rows{url()};
  acquire(rows);
  open()->exec(sqlite_migrations().front().down);
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::rejected);
  migrate_sqlite(path());
  open()->exec("INSERT INTO shared_lock_schema (number, name) VALUES (7, '007_later')");
  EXPECT_TRUE(says(error_of([&] { acquire(rows); }), "version 7, newer than version 1"));
}

TEST_F(SociSqliteStore, OnABusyFileIsBusyOrUnavailableInTime) {
  const auto exclusive = open();
  exclusive->exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
  soci_store rows{url(), {.turn_timeout = 5ms}};
  EXPECT_EQ(acquire(rows).status, acquire_status::busy);
  const auto thrown = error_of([&] { rows.read(std::array{key_}); });
  EXPECT_EQ(thrown.kind(), errc::unavailable);
  EXPECT_TRUE(says(thrown, "turn_timeout"));
}

TEST_F(SociSqliteStore, StandsInTheQueueOfWriters) {
  soci_store rows{url(), {.turn_timeout = 5ms}};
  EXPECT_TRUE(sqlite_queue{path()}.is_joined_by([&] { acquire(rows); }));
}

TEST_F(SociSqliteStore, ShowsNoSqlAndNoValueInAnyError) {
  soci_store rows{url()};
  acquire(rows);
  open()->exec("ALTER TABLE shared_lock RENAME COLUMN expires_at TO expires_when");
  const auto lost = version{7};
  const std::vector<std::function<void()>> calls{
      [&] { acquire(rows); },
      [&] {
        rows.renew(std::array{renew_request{other_key_, mine_, lost, 1h}});
      },
      [&] {
        rows.release(std::array{release_request{other_key_, mine_, lost}});
      },
      [&] { rows.read(std::array{key_}); },
      [&] { rows.read(std::array{key_}, read_mode::ready_to_commit); },
      [&] { rows.list(); }};
  int errors = 0;
  for (const auto& call : calls) {
    try {
      call();
    } catch (const error& thrown) {
      ++errors;
      const auto texts = all_texts_of(thrown);
      for (const auto& secret : {mine_.text, key_.source_id + "'", std::string{"SELECT"},
                                 std::string{"INSERT"}, std::string{"UPDATE"}}) {
        EXPECT_EQ(texts.find(secret), std::string::npos) << texts;
      }
    }
  }
  EXPECT_GE(errors, 5);
}

}  // namespace
}  // namespace rowlock::tests
