// Locks and versions in SQLite transactions of the application.
#include "rowlock/sqlite.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

class SqliteRows : public migrated_sqlite_test {};

TEST_F(SqliteRows, OutsideATransactionAreMisuse) {
  const auto database = open();
  EXPECT_EQ(error_of([&] { (void)lock_rows(*database, key_, no_wait()); }).kind(), errc::misuse);
  EXPECT_EQ(error_of([&] { (void)read_version(*database, key_); }).kind(), errc::misuse);
  EXPECT_EQ(error_of([&] { (void)try_commit(*database, key_, version{1}); }).kind(), errc::misuse);
  EXPECT_EQ(error_of([&] {
              (void)try_commit(*database, {"t", "id", "v"}, 1, 1);
            }).kind(),
            errc::misuse);
  EXPECT_EQ(database->getTotalChanges(), 0);
}

TEST_F(SqliteRows, AreNotLockedInADeferredTransaction) {
  const auto database = open();
  database->exec("BEGIN");
  const auto before_it_has_read = error_of([&] { (void)lock_rows(*database, key_, no_wait()); });
  EXPECT_EQ(before_it_has_read.kind(), errc::misuse);
  EXPECT_TRUE(says(before_it_has_read, "BEGIN IMMEDIATE"));
  database->execAndGet("SELECT count(*) FROM shared_lock");
  EXPECT_EQ(error_of([&] { (void)lock_rows(*database, key_, no_wait()); }).kind(), errc::misuse);
}

TEST_F(SqliteRows, AreAllUntouchedInATransactionThatWasRefusedOne) {
  sqlite_store leases{path()};
  leases.read(std::array{other_key_}, read_mode::ready_to_commit);
  acquire(leases);
  const auto before = version_in_file(other_key_);
  const auto database = open();
  sqlite_transaction work{*database};
  const auto refused = lock_rows(*database, {{"another", "1"}, key_, other_key_}, wait_forever());
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().key, key_);
  EXPECT_EQ(refused.refusal().holder, "host:1");
  EXPECT_TRUE(lock_rows(*database, other_key_, no_wait()).acquired());
  work.commit();
  EXPECT_GT(version_in_file(other_key_), before);
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock"), "2");
}

TEST_F(SqliteRows, WithoutATableSayWhatToRun) {
  const auto database = open();
  const sqlite_transaction work{*database};
  const auto thrown = error_of([&] { (void)lock_rows(*database, key_, no_wait(), "my_locks"); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "`rowlock migrate sqlite://" + path() + " --table my_locks`"));
}

TEST_F(SqliteRows, OfAVersionThatADeferredTransactionCannotWriteAreStale) {
  sqlite_store leases{path()};
  const auto seen = leases.read(std::array{key_}, read_mode::ready_to_commit).at(0).value().version;
  const auto database = open();
  database->exec("BEGIN");
  EXPECT_EQ(*read_version(*database, key_), seen);
  {
    const auto rival = rival_writer();
    EXPECT_EQ(try_commit(*database, key_, seen), commit_result::stale);  // SQLITE_BUSY
    rival->exec("CREATE TABLE elsewhere (a); COMMIT");
  }
  EXPECT_EQ(try_commit(*database, key_, seen), commit_result::stale);  // SQLITE_BUSY_SNAPSHOT
  EXPECT_EQ(*read_version(*database, key_), seen);
  database->exec("ROLLBACK");
}

TEST_F(SqliteRows, ThatAreMissingAreBusyInADeferredTransactionThatCannotWrite) {
  const auto database = open();
  database->exec("BEGIN");
  const auto rival = rival_writer();
  const auto refused = read_version(*database, key_);
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::busy);
}

TEST_F(SqliteRows, OfADeferredTransactionCommitWhenNobodyElseWrites) {
  const auto database = open();
  database->exec("BEGIN");
  const auto seen = *read_version(*database, key_);
  EXPECT_EQ(try_commit(*database, key_, seen), commit_result::committed);
  EXPECT_EQ(try_commit(*database, key_, seen), commit_result::stale);
  database->exec("COMMIT");
  EXPECT_GT(version_in_file(key_), seen);
}

/// Rows of the application, which have versions of their own.
class SqliteEntity : public SqliteRows {
 protected:
  SqliteEntity() {
    open()->exec(
        "CREATE TABLE invoice (id INTEGER PRIMARY KEY, name TEXT UNIQUE, version INTEGER);"
        "INSERT INTO invoice VALUES (1, 'one', 7), (2, 'two', 7)");
  }

  [[nodiscard]] commit_result commit(const versioned_table& table, const row_id& id,
                                     std::int64_t seen) const {
    const auto database = open();
    sqlite_transaction work{*database};
    const auto result = try_commit(*database, table, id, seen);
    work.commit();
    return result;
  }

  [[nodiscard]] std::string versions() const {
    return text_of("SELECT group_concat(version) FROM (SELECT version FROM invoice ORDER BY id)");
  }

  const versioned_table by_id_{.table = "invoice", .id_column = "id", .version_column = "version"};
  const versioned_table by_name_{
      .table = "main.invoice", .id_column = "name", .version_column = "version"};
};

TEST_F(SqliteEntity, OfANumberIsCommittedOnce) {
  EXPECT_EQ(commit(by_id_, 1, 7), commit_result::committed);
  EXPECT_EQ(commit(by_id_, 1, 7), commit_result::stale);
  EXPECT_EQ(versions(), "8,7");
}

TEST_F(SqliteEntity, OfATextIsCommittedOnce) {
  EXPECT_EQ(commit(by_name_, "two", 7), commit_result::committed);
  EXPECT_EQ(commit(by_name_, "two", 7), commit_result::stale);
  EXPECT_EQ(versions(), "7,8");
}

TEST_F(SqliteEntity, ThatDoesNotExistIsStale) {
  EXPECT_EQ(commit(by_id_, 3, 7), commit_result::stale);
  EXPECT_EQ(commit(by_name_, "' OR 1 = 1 --", 7), commit_result::stale);
}

TEST_F(SqliteEntity, InATableThatDoesNotExistIsRejected) {
  const auto thrown = error_of([&] { (void)commit({"receipt", "id", "version"}, 1, 7); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "no such table"));
}

TEST_F(SqliteEntity, WithAColumnThatDoesNotExistIsRejectedAndNotTakenForAText) {
  EXPECT_EQ(error_of([&] {
              (void)commit({"invoice", "nr", "version"}, "nr", 7);
            }).kind(),
            errc::rejected);
  EXPECT_EQ(versions(), "7,7");
}

class SqliteBadName : public SqliteEntity, public testing::WithParamInterface<std::string> {};

TEST_P(SqliteBadName, IsMisuseWhereverItStands) {
  const auto& name = GetParam();
  for (const versioned_table& table :
       {versioned_table{name, "id", "version"}, versioned_table{"invoice", name, "version"},
        versioned_table{"invoice", "id", name}}) {
    EXPECT_EQ(error_of([&] { (void)commit(table, 1, 7); }).kind(), errc::misuse);
  }
  EXPECT_EQ(versions(), "7,7");
}

INSTANTIATE_TEST_SUITE_P(Each, SqliteBadName,
                         testing::Values("", "1st", "a b", "a\"b", "id = id --", "a.b.c",
                                         std::string{"id\0", 3}, std::string(64, 'n')));

}  // namespace
}  // namespace rowlock::tests
