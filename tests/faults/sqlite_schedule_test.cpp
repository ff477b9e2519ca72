// The same schedules on SQLite files: an ex-holder at its commit, and a release that comes late.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "faults/weakened_store.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/sqlite.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

/// The application's tables are in a file of their own, to which the locks are attached.
class SqliteSchedule : public migrated_sqlite_test {
 protected:
  SqliteSchedule() {
    SQLite::Database created{path("app.db"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
    created.exec("PRAGMA journal_mode = WAL");
    created.exec("CREATE TABLE counter (n INTEGER NOT NULL)");
    created.exec("INSERT INTO counter VALUES (0)");
  }

  [[nodiscard]] std::unique_ptr<SQLite::Database> connect() const {
    auto opened = std::make_unique<SQLite::Database>(path("app.db"), SQLite::OPEN_READWRITE);
    opened->exec("ATTACH '" + path() + "' AS locks");
    return opened;
  }

  [[nodiscard]] int read_counter() const {
    return connect()->execAndGet("SELECT n FROM counter").getInt();
  }

  static void write_counter(SQLite::Database& database, int n) {
    database.exec("UPDATE counter SET n = " + std::to_string(n));
  }

  void commit_increment(SQLite::Database& database, int seen) {
    write_counter(database, seen + 1);
    database.exec("COMMIT");
    ++acknowledged_;
  }

  [[nodiscard]] bool an_update_was_lost() const { return read_counter() != acknowledged_; }

  lease acquire_lease() { return *locks_.try_acquire(key_); }

  void let_lease_run_out() const {
    open()->exec("UPDATE shared_lock SET expires_at = '2026-01-31 12:00:00.000'");
  }

  bool let_successor_count() {
    auto taken = locks_.try_acquire(key_);
    if (!taken.acquired()) return false;
    const lease& held = successor_.emplace(*std::move(taken));
    const int seen = read_counter();
    const auto database = connect();
    run_fenced<sqlite_transaction>(
        *database, held,
        [&](sqlite_transaction& work) { write_counter(work.database(), seen + 1); }, {}, table_);
    ++acknowledged_;
    return true;
  }

  const table_name table_{"locks.shared_lock"};
  sqlite_store rows_{path(), {.turn_timeout = 1ms}};
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
  std::optional<lease> successor_;
  int acknowledged_ = 0;
};

TEST_F(SqliteSchedule, FenceLetsNoExHolderCommit) {
  const lease held = acquire_lease();
  const int seen = read_counter();
  let_lease_run_out();
  ASSERT_TRUE(let_successor_count());
  const auto database = connect();
  EXPECT_THROW(
      run_fenced<sqlite_transaction>(
          *database, held,
          [&](sqlite_transaction& work) { write_counter(work.database(), seen + 1); }, {}, table_),
      lease_lost);
  EXPECT_EQ(acknowledged_, 1);
  EXPECT_FALSE(an_update_was_lost());
}

TEST_F(SqliteSchedule, NoFenceIsCaught) {
  const lease held = acquire_lease();
  const int seen = read_counter();
  let_lease_run_out();
  ASSERT_TRUE(let_successor_count());
  const auto database = connect();
  database->exec("BEGIN IMMEDIATE");
  commit_increment(*database, seen);
  EXPECT_TRUE(an_update_was_lost());
}

TEST_F(SqliteSchedule, FenceKeepsSuccessorsOutFromTheProofToTheCommit) {
  const lease held = acquire_lease();
  const int seen = read_counter();
  let_lease_run_out();
  const auto database = connect();
  database->exec("BEGIN IMMEDIATE");
  fence(*database, held, table_);
  EXPECT_FALSE(let_successor_count());
  commit_increment(*database, seen);
  EXPECT_TRUE(let_successor_count());
  EXPECT_FALSE(an_update_was_lost());
}

// In one file SQLite itself would refuse the ex-holder's write; between two it does not see it.
TEST_F(SqliteSchedule, SelectInADeferredTransactionIsCaughtAsAFence) {
  const lease held = acquire_lease();
  const int seen = read_counter();
  let_lease_run_out();
  const auto database = connect();
  database->exec("BEGIN");
  ASSERT_EQ(database
                ->execAndGet("SELECT count(*) FROM locks.shared_lock WHERE version = " +
                             std::to_string(held.token().number) + " AND owner IS NOT NULL")
                .getInt(),
            1);
  ASSERT_TRUE(let_successor_count());
  commit_increment(*database, seen);
  EXPECT_TRUE(an_update_was_lost());
}

TEST_F(SqliteSchedule, FenceKeepsSuccessorsOutThoughOnlyTheApplicationsFileWasWrittenBefore) {
  const lease held = acquire_lease();
  const int seen = read_counter();
  let_lease_run_out();
  const auto database = connect();
  database->exec("BEGIN");
  write_counter(*database, seen);
  fence(*database, held, table_);
  EXPECT_FALSE(locks_.try_acquire(key_).acquired());
}

class SqliteLateRelease : public SqliteSchedule {
 protected:
  /// An ex-holder releases after another has taken over; whether a third is let in.
  bool third_is_let_in_after_release_of_the_first(store& first_rows) {
    lock_table first_locks{first_rows, {.ttl = 1h, .renew = false}};
    lease first = *first_locks.try_acquire(key_);
    let_lease_run_out();
    const lease second = acquire_lease();
    first.release();
    EXPECT_TRUE(second.is_valid());
    return locks_.try_acquire(key_).acquired();
  }
};

TEST_F(SqliteLateRelease, LeavesTheSuccessorItsKey) {
  EXPECT_FALSE(third_is_let_in_after_release_of_the_first(rows_));
}

TEST_F(SqliteLateRelease, ByTheKeyAloneIsCaught) {
  weakened_store weak{
      rows_, {.release = [this](const release_request&) {
        open()->exec(
            "UPDATE shared_lock SET owner = NULL, holder = NULL, acquired_at = NULL, "
            "expires_at = '1970-01-01 00:00:00.000'");
        return change_answer::done;
      }}};
  EXPECT_TRUE(third_is_let_in_after_release_of_the_first(weak));
}

}  // namespace
}  // namespace rowlock::tests
