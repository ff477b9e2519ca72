// What docs/sql.md says of SQLite, executed as it stands there.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/documented_script.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;

class DocumentedSqliteSql : public testing::Test {
 protected:
  DocumentedSqliteSql() {
    if (run_rowlock({"migrate", "sqlite://" + path_}).code != 0) {
      throw std::runtime_error{"migrate failed"};
    }
    database_.exec("create table report as select 0 as total");
  }

  /// A row of job/nightly without an owner.
  void create_row() {
    database_.exec(
        "insert into shared_lock (lock_type, source_id, version) values ('job', 'nightly', 7)");
  }
  void create_owned_row() {
    create_row();
    database_.exec("update shared_lock set owner = '" + std::string(32, 'a') +
                   "', holder = 'h', acquired_at = '2026-01-31 12:00:00.000'");
  }

  std::int64_t number(const std::string& sql) { return database_.execAndGet(sql).getInt64(); }
  std::int64_t total() { return number("select total from report"); }

  SQLite::Statement bound(const std::string& sql) {
    SQLite::Statement statement{database_, sql};
    statement.bind(":type", "job");
    statement.bind(":source", "nightly");
    return statement;
  }
  int changed_by(const std::string& sql, int version) {
    auto statement = bound(sql);
    statement.bind(sql.find(":seen") == std::string::npos ? ":token" : ":seen", version);
    return statement.exec();
  }
  [[nodiscard]] result run_script(const std::string& script) const {
    return run_nightly(documented_sql("SQLite: a script", "sh"), script, {{"FILE", path_}});
  }

  const temp_folder folder_;
  const std::string path_ = folder_.path() / "locks.db";
  SQLite::Database database_{path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  const std::string closing_ =
      "update shared_lock set holder = 'h', "
      "expires_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '+1 hour')";
  const std::string optimistic_ = documented_sql("SQLite: a script", "sql");
};

TEST_F(DocumentedSqliteSql, TheFenceAnswersWhetherTheLeaseIsHeld) {
  create_owned_row();
  const auto held_at = [&](int token) {
    auto query = bound(documented_sql("SQLite: fence", "sql"));
    query.bind(":token", token);
    query.executeStep();
    return query.getColumn(0).getInt();
  };
  EXPECT_EQ(held_at(7), 1);
  EXPECT_EQ(held_at(6), 0);
  database_.exec("update shared_lock set owner = null, holder = null, acquired_at = null");
  EXPECT_EQ(held_at(7), 0);
}

TEST_F(DocumentedSqliteSql, AReleaseUnsetsTheRowAndMovesItsVersion) {
  const auto release = documented_sql("SQLite: release", "sql");
  create_owned_row();
  EXPECT_EQ(changed_by(release, 6), 0);
  EXPECT_EQ(changed_by(release, 7), 1);
  EXPECT_EQ(number("select count(*) from shared_lock where owner is null and version > 7 and "
                   "expires_at < strftime('%Y-%m-%d %H:%M:%f', 'now')"),
            1);
  EXPECT_EQ(changed_by(release, 7), 0);
}

TEST_F(DocumentedSqliteSql, AnOptimisticCommitMovesTheVersion) {
  create_row();
  const auto ran = run_script(optimistic_);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(total(), 1);
  EXPECT_GT(number("select version from shared_lock"), 1'000'000);
}

TEST_F(DocumentedSqliteSql, AnOptimisticCommitIsRolledBackWhenTheVersionHasMoved) {
  create_row();
  const auto ran = run_script(
      with_before(optimistic_, "UPDATE report", "update shared_lock set version = version + 1;\n"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.errors, HasSubstr("CHECK constraint failed"));
  EXPECT_EQ(total(), 0);
  EXPECT_EQ(number("select version from shared_lock"), 7);
}

TEST_F(DocumentedSqliteSql, AnOptimisticCommitDoesNotBeginWhileSomebodyOwnsTheRow) {
  create_owned_row();
  EXPECT_EQ(run_script(optimistic_).code, 1);
  EXPECT_EQ(total(), 0);
}

TEST_F(DocumentedSqliteSql, AnOptimisticCommitNeitherBeginsNorEndsWhileTheRowStaysClosed) {
  create_row();
  EXPECT_EQ(run_script(with_before(optimistic_, "UPDATE report", closing_ + ";\n")).code, 1);
  EXPECT_EQ(total(), 0);
  database_.exec(closing_);
  EXPECT_EQ(run_script(optimistic_).code, 1);
  EXPECT_EQ(total(), 0);
  EXPECT_EQ(number("select version from shared_lock"), 7);
}

TEST_F(DocumentedSqliteSql, TheStatementsOfAnOptimisticCommitDoAsThoseOfTheScript) {
  const auto read = documented_sql("SQLite: optimistic commit", "sql", "SELECT");
  const auto advance = documented_sql("SQLite: optimistic commit", "sql", "UPDATE");
  create_row();
  const auto is_read = [&] { return bound(read).executeStep(); };
  EXPECT_TRUE(is_read());
  EXPECT_EQ(changed_by(advance, 6), 0);
  database_.exec(closing_);
  EXPECT_FALSE(is_read());
  EXPECT_EQ(changed_by(advance, 7), 0);
  database_.exec("update shared_lock set holder = null, expires_at = '1970-01-01 00:00:00.000'");
  EXPECT_EQ(changed_by(advance, 7), 1);
}

TEST_F(DocumentedSqliteSql, AnOptimisticCommitBegunAsReaderIsBusyWhenAnotherHasWritten) {
  const auto read = documented_sql("SQLite: optimistic commit", "sql", "SELECT");
  const auto advance = documented_sql("SQLite: optimistic commit", "sql", "UPDATE");
  create_row();
  database_.exec("begin");
  EXPECT_TRUE(bound(read).executeStep());
  SQLite::Database{path_, SQLite::OPEN_READWRITE}.exec(
      "update shared_lock set version = version + 1");
  try {
    changed_by(advance, 7);
    ADD_FAILURE() << "it was not refused";
  } catch (const SQLite::Exception& thrown) {
    constexpr int busy = 5;
    EXPECT_EQ(thrown.getErrorCode(), busy);
  }
}

}  // namespace

}  // namespace rowlock::tests
