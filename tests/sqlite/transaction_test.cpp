// The transaction that has the one place for a writer, and what owns one.
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rowlock/lock_table.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/sqlite.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

class SqliteTransaction : public migrated_sqlite_test {};

TEST_F(SqliteTransaction, IsTheWriterFromItsBeginning) {
  const auto database = open();
  const sqlite_transaction work{*database};
  EXPECT_THROW((void)rival_writer(), SQLite::Exception);
}

TEST_F(SqliteTransaction, RollsBackWhatWasNotCommitted) {
  const auto database = open();
  {
    const sqlite_transaction work{*database};
    EXPECT_TRUE(lock_rows(*database, key_, no_wait()).acquired());
  }
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock"), "0");
}

TEST_F(SqliteTransaction, IsUnavailableWhenItsTurnDoesNotCome) {
  const auto rival = rival_writer();
  const auto database = open();
  EXPECT_EQ(error_of([&] {
              const sqlite_transaction work{*database, 5ms};
            }).kind(),
            errc::unavailable);
}

TEST_F(SqliteTransaction, WaitsForItsTurn) {
  auto rival = rival_writer();
  const auto database = open();
  std::jthread waiting{[&database] { sqlite_transaction{*database, 1h}.commit(); }};
  rival.reset();
}

TEST_F(SqliteTransaction, ThatACallbackHasIsNotCommittedByIt) {
  const auto database = open();
  const auto caught = error_of([&] {
    (void)with_row_lock<sqlite_transaction>(*database, key_, [&](sqlite_transaction& work) {
      database->exec("CREATE TABLE made (number)");
      work.commit();
    });
  });
  EXPECT_EQ(caught.kind(), errc::misuse);
  EXPECT_EQ(text_of("SELECT count(*) FROM sqlite_master WHERE name = 'made'"), "0");
}

TEST_F(SqliteTransaction, ThatAStatementOfTheCallbackCommitsIsMisuse) {
  const auto database = open();
  const auto caught = error_of([&] {
    (void)with_row_lock<sqlite_transaction>(*database, key_,
                                            [&](sqlite_transaction&) { database->exec("COMMIT"); });
  });
  EXPECT_EQ(caught.kind(), errc::misuse);
  sqlite_transaction{*database}.commit();
}

TEST_F(SqliteTransaction, LocksSeveralKeysInBracesAndNoneOfThemOnARefusal) {
  const auto database = open();
  const lock_key other{"test", "other"};
  const auto lock_both = [&] {
    return with_row_lock<sqlite_transaction>(*database, {key_, other},
                                             [](sqlite_transaction&) { return 7; });
  };
  EXPECT_EQ(*lock_both(), 7);
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock WHERE version > 1"), "2");
  database->exec(
      "UPDATE shared_lock SET owner = '0123456789abcdef0123456789abcdef', "
      "holder = 'host:2', acquired_at = '2026-01-31 12:00:00.000', "
      "expires_at = '2999-01-31 12:00:00.000' WHERE source_id = 'other'");
  EXPECT_EQ(lock_both().refusal().reason, refusal_reason::held);
}

TEST_F(SqliteTransaction, ThatACallbackRollsBackIsNotCommitted) {
  const auto database = open();
  const auto done =
      with_row_lock<sqlite_transaction>(*database, key_, [&](sqlite_transaction& work) {
        database->exec("CREATE TABLE made (number)");
        work.abort();
        return 7;
      });
  ASSERT_TRUE(done.acquired());
  EXPECT_EQ(*done, 7);
  EXPECT_EQ(text_of("SELECT count(*) FROM sqlite_master WHERE name = 'made'"), "0");
  sqlite_transaction{*database}.commit();
}

// Wherever the callback stands, it commits nothing, and rolls back quietly.
TEST_F(SqliteTransaction, ThatWorkHasIsNotCommittedByIt) {
  sqlite_store rows{path()};
  lock_table locks{rows, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(key_);
  const auto database = open();
  const auto make = [&](sqlite_transaction&) { database->exec("CREATE TABLE made (number)"); };
  const auto make_and_commit = [&](sqlite_transaction& work) {
    make(work);
    work.commit();
  };
  const auto make_and_abort = [&](sqlite_transaction& work) {
    make(work);
    work.abort();
  };
  for (const bool first : {false, true}) {
    for (const bool release : {false, true}) {
      const fenced_run_options options{.fence_first = first, .release = release};
      const auto caught = error_of(
          [&] { run_fenced<sqlite_transaction>(*database, held, make_and_commit, options); });
      EXPECT_EQ(caught.kind(), errc::misuse);
      run_fenced<sqlite_transaction>(*database, held, make_and_abort, options);
    }
  }
  EXPECT_EQ(error_of([&] {
              (void)with_optimistic_commit<sqlite_transaction>(*database, other_key_,
                                                               make_and_commit);
            }).kind(),
            errc::misuse);
  EXPECT_TRUE(
      with_optimistic_commit<sqlite_transaction>(*database, other_key_, make_and_abort).acquired());
  EXPECT_EQ(text_of("SELECT count(*) FROM sqlite_master WHERE name = 'made'"), "0");
  EXPECT_TRUE(held.is_valid());
}

TEST_F(SqliteTransaction, ThatAStatementOfTheCallbackCommittedIsMisuseThatSaysItsWorkIsKept) {
  sqlite_store rows{path()};
  lock_table locks{rows, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(key_);
  const auto database = open();
  database->exec("CREATE TABLE made (number)");
  const auto commit = [](sqlite_transaction& work) {
    work.database().exec("INSERT INTO made VALUES (1); COMMIT");
  };
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { (void)with_row_lock<sqlite_transaction>(*database, other_key_, commit); },
           [&] { run_fenced<sqlite_transaction>(*database, held, commit); }}) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind(), errc::misuse);
    EXPECT_NE(std::string{caught.what()}.find("is kept"), std::string::npos) << caught.what();
    EXPECT_NE(std::string{caught.what()}.find("remove that statement"), std::string::npos)
        << caught.what();
  }
  EXPECT_EQ(text_of("SELECT count(*) FROM made"), "2");
}

TEST_F(SqliteTransaction, ThatAnErrorRolledBackIsMisuseThoughTheCallbackSwallowedIt) {
  sqlite_store rows{path()};
  lock_table locks{rows, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(key_);
  const auto database = open();
  database->exec("CREATE TABLE made (number UNIQUE ON CONFLICT ROLLBACK)");
  const auto swallow = [](sqlite_transaction& work) {
    work.database().exec("INSERT INTO made VALUES (1)");
    EXPECT_THROW(work.database().exec("INSERT INTO made VALUES (1)"), SQLite::Exception);
  };
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { (void)with_row_lock<sqlite_transaction>(*database, other_key_, swallow); },
           [&] {
             (void)with_optimistic_commit<sqlite_transaction>(*database, other_key_, swallow);
           },
           [&] { run_fenced<sqlite_transaction>(*database, held, swallow); },
           [&] { run_fenced<sqlite_transaction>(*database, held, swallow, {.fence_first = true}); },
           [&] { run_fenced<sqlite_transaction>(*database, held, swallow, {.release = true}); }}) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind(), errc::misuse);
    EXPECT_NE(std::string{caught.what()}.find("nothing of it is kept"), std::string::npos)
        << caught.what();
  }
  EXPECT_EQ(text_of("SELECT count(*) FROM made"), "0");
  EXPECT_TRUE(held.is_valid());
}

TEST_F(SqliteTransaction, InsideAnotherIsMisuse) {
  const auto database = open();
  sqlite_transaction outer{*database};
  EXPECT_EQ(error_of([&] { const sqlite_transaction inner{*database}; }).kind(), errc::misuse);
  EXPECT_EQ(error_of([&] {
              (void)with_row_lock<sqlite_transaction>(*database, key_, no_wait(),
                                                      [](sqlite_transaction&) {});
            }).kind(),
            errc::misuse);
  outer.commit();
}

TEST_F(SqliteTransaction, PassesARefusedCommitThroughAndRollsBack) {
  const auto database = open();
  database->exec(
      "PRAGMA foreign_keys = ON; CREATE TABLE account (id INTEGER PRIMARY KEY);"
      "CREATE TABLE entry (account REFERENCES account DEFERRABLE INITIALLY DEFERRED)");
  EXPECT_THROW(
      (void)with_row_lock<sqlite_transaction>(
          *database, key_, no_wait(),
          [](sqlite_transaction& work) { work.database().exec("INSERT INTO entry VALUES (1)"); }),
      SQLite::Exception);
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock"), "0");
  EXPECT_NO_THROW((void)rival_writer());
}

TEST_F(SqliteTransaction, IgnoresTheApplicationsBusyTimeoutAndPutsItBack) {
  const auto database = open();
  database->setBusyTimeout(3'600'000);  // would hang, if it waited
  {
    const auto rival = rival_writer();
    const auto refused =
        with_row_lock<sqlite_transaction>(*database, key_, no_wait(), [](sqlite_transaction&) {});
    EXPECT_EQ(refused.refusal().reason, refusal_reason::busy);
  }
  EXPECT_EQ(database->execAndGet("PRAGMA busy_timeout").getInt(), 3'600'000);
}

TEST_F(SqliteTransaction, OfAnOptimisticCommitWaitsAsLongAsItIsTold) {
  const auto database = open();
  const auto commit_within = [&](const retry_policy& wait) {
    return with_optimistic_commit<sqlite_transaction>(
        *database, key_, [](sqlite_transaction&) {}, {}, wait);
  };
  auto rival = rival_writer();
  EXPECT_EQ(commit_within(no_wait()).refusal().reason, refusal_reason::busy);
  const auto timed_out = commit_within(wait_for(20ms)).refusal();
  EXPECT_EQ(timed_out.reason, refusal_reason::timed_out);
  EXPECT_EQ(timed_out.key, key_);
  std::jthread ending{[&rival] { rival.reset(); }};
  EXPECT_TRUE(commit_within(wait_for(1h)).acquired());
}

TEST_F(SqliteTransaction, RefusesALeasedKeyWithoutBecomingTheWriter) {
  sqlite_store leases{path()};
  acquire(leases);
  const auto rival = rival_writer();
  const auto database = open();
  const auto refused =
      with_row_lock<sqlite_transaction>(*database, key_, no_wait(), [](sqlite_transaction&) {});
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
}

TEST_F(SqliteTransaction, CountsAFailureAlsoOfARowThatWentWithTheRollback) {
  const auto database = open();
  const auto fail = [&] {
    (void)with_row_lock<sqlite_transaction>(
        *database, key_, no_wait(), [](sqlite_transaction&) { throw std::range_error{"no"}; });
  };
  EXPECT_THROW(fail(), std::range_error);
  EXPECT_EQ(text_of("SELECT failure_count FROM shared_lock"), "1");
  const auto before = version_in_file(key_);
  EXPECT_THROW(fail(), std::range_error);
  EXPECT_EQ(text_of("SELECT failure_count FROM shared_lock"), "2");
  EXPECT_EQ(version_in_file(key_), before);
}

TEST_F(SqliteTransaction, OfAReleaseThatATriggerRefusesReleasesNoLease) {
  sqlite_store rows{path()};
  lock_table locks{rows, {.ttl = 1h, .renew = false}};
  const lock_key other{"invoice", "another"};
  const lease one = *locks.try_acquire(key_);
  const lease two = *locks.try_acquire(other);
  for (const auto& refused : {key_, other}) {
    open()->exec("DROP TRIGGER IF EXISTS refusing");
    open()->exec("CREATE TRIGGER refusing BEFORE UPDATE ON shared_lock WHEN new.source_id = '" +
                 refused.source_id + "' BEGIN SELECT RAISE(ABORT, 'refused'); END");
    const auto database = open();
    sqlite_transaction work{*database};
    EXPECT_EQ(error_of([&] { release_with(work.database(), {one, two}); }).kind(), errc::misuse);
    work.commit();
    EXPECT_EQ(text_of("SELECT count(owner) FROM shared_lock"), "2");
  }
}

TEST_F(SqliteTransaction, ThatAFenceOnItsConnectionHasEndedIsMisuseToCommit) {
  sqlite_store rows{path()};
  lock_table locks{rows, {.renew = false}};
  const lease held = *locks.try_acquire(key_);
  open()->exec("UPDATE shared_lock SET version = version + 1");
  const auto database = open();
  sqlite_transaction work{*database};
  EXPECT_THROW(fence(work.database(), held), lease_lost);
  try {
    work.commit();
    ADD_FAILURE() << "committed";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.kind(), errc::misuse);
  }
}

TEST_F(SqliteTransaction, IsRunAgainByRetryWhenSqliteSaysThatAnotherWrote) {
  const auto database = open();
  open()->exec("CREATE TABLE counter (n); INSERT INTO counter VALUES (0)");
  int tries = 0;
  const auto result = retry({.attempts = 2}, [&]() -> commit_result {
    const sqlite_transaction registers_conflicts{*database};
    SQLite::Database mine{path(), SQLite::OPEN_READWRITE};
    mine.exec("BEGIN");
    mine.execAndGet("SELECT n FROM counter");
    if (++tries == 1) database->exec("UPDATE counter SET n = n + 1; COMMIT; BEGIN IMMEDIATE");
    if (tries == 1) mine.exec("UPDATE counter SET n = n + 1");
    return commit_result::committed;
  });
  EXPECT_EQ(result, commit_result::committed);
  EXPECT_EQ(tries, 2);
}

/// The work is in the main file, the lock table in an attached one.
class SqliteAttached : public migrated_sqlite_test {
 protected:
  SqliteAttached() {
    database_.exec("PRAGMA journal_mode = WAL");
    database_.exec("CREATE TABLE note (text)");
    database_.exec("ATTACH '" + path() + "' AS locks");
  }

  /// What the calls do that write the lock table beside the work.
  std::vector<std::string> refusals(const table_name& table) {
    sqlite_store rows{path()};
    lock_table locks{rows, {.ttl = 1h}};
    const auto held = locks.try_acquire(other_key_);
    std::vector<std::string> said;
    const auto note = [&](const auto& call) {
      sqlite_transaction work{database_};
      try {
        call(work);
        said.emplace_back("done");
      } catch (const error& thrown) {
        said.emplace_back(thrown.kind() == errc::rejected &&
                                  says(thrown, "open that file as the main one")
                              ? "refused"
                              : thrown.what());
      }
    };
    note([&](sqlite_transaction&) { (void)lock_rows(database_, key_, no_wait(), table); });
    note([&](sqlite_transaction&) { (void)try_commit(database_, key_, version{1}, table); });
    note([&](sqlite_transaction&) { release_with(database_, *held, {}, table); });
    note([&](sqlite_transaction& work) {
      fence(database_, *held, table);
      database_.exec("INSERT INTO note VALUES ('fenced')");
      work.commit();
    });
    return said;
  }

  SQLite::Database database_{path("work.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  const std::vector<std::string> refused_{"refused", "refused", "refused", "done"};
};

TEST_F(SqliteAttached, WithTheLockTableWritesNoneOfItAndFences) {
  EXPECT_EQ(refusals("locks.shared_lock"), refused_);
  EXPECT_EQ(refusals({}), refused_);
  database_.exec("PRAGMA main.journal_mode = DELETE");
  EXPECT_EQ(refusals({}), refused_);
}

TEST_F(SqliteAttached, BesideTheLockTableIsCommittedWithIt) {
  const auto locks = open();
  locks->exec("ATTACH '" + path("work.db") + "' AS other");
  sqlite_transaction work{*locks};
  EXPECT_TRUE(lock_rows(*locks, key_, no_wait()).acquired());
  EXPECT_NO_THROW(work.commit());
}

TEST_F(SqliteAttached, WithoutWalIsCommittedAtOnce) {
  database_.exec("PRAGMA main.journal_mode = DELETE");
  database_.exec("PRAGMA locks.journal_mode = DELETE");
  sqlite_transaction work{database_};
  EXPECT_TRUE(lock_rows(database_, key_, no_wait()).acquired());
  EXPECT_NO_THROW(work.commit());
}

}  // namespace
}  // namespace rowlock::tests
