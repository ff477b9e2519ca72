// What docs/sql.md says of MariaDB and MySQL, executed as it stands there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/documented_script.hpp"
#include "support/documented.hpp"
#include "support/mariadb_line.hpp"
#include "support/mysql_database.hpp"

namespace rowlock::tests {

namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

std::string documented_mysql(const std::string& heading, const std::string& language,
                             const std::string& containing = {}) {
  return documented_sql("MariaDB and MySQL: " + heading, language, containing);
}

/// The document speaks of a database `shop`, which the client finds by its configuration.
class DocumentedMysqlSql : public testing::Test {
 protected:
  DocumentedMysqlSql() {
    if (run_rowlock({"migrate", database_.url()}).code != 0) {
      throw std::runtime_error{"migrate failed"};
    }
    line_.execute("create table report select 0 as total");
  }

  std::int64_t total() { return line_.number("select total from report"); }

  /// A row of job/night's without an owner, and one whose key differs by case alone.
  void create_rows() {
    line_.execute(
        "insert into shared_lock (lock_type, source_id, version) "
        "values ('job', 'night''s', 7), ('JOB', 'night''s', 7)");
  }
  void create_owned_rows() {
    create_rows();
    line_.execute(
        "update shared_lock set owner = repeat('a', 32), holder = 'h', acquired_at = "
        "utc_timestamp(6), expires_at = utc_timestamp(6) + interval 1 hour");
  }

  [[nodiscard]] result run_in_shell(const std::string& shell, const std::string& script,
                                    std::map<std::string, std::string> environment = {}) const {
    environment["URL"] = database_.url();
    const auto where = mariadb_address_of(database_.url());
    return run_nightly(
        with_each(shell, "mariadb shop", "mariadb " + database_.name()), script, environment,
        {{".my.cnf", "[client]\nprotocol=tcp\nhost=" + where.host +
                         "\nport=" + std::to_string(where.port) + "\nuser=" + where.user +
                         "\npassword=" + where.password + "\n"}});
  }
  /// `script` with the variables of the document, without rowlock around it.
  [[nodiscard]] result run_script(const std::string& script, const std::string& token = "7") const {
    const auto begin = run_.find('\'') + 1;
    return run_in_shell(
        run_.substr(begin, run_.rfind('\'') - begin), script,
        {{"ROWLOCK_TYPE", "job"}, {"ROWLOCK_SOURCE", "night's"}, {"ROWLOCK_TOKEN", token}});
  }
  /// In the script, before its work is done.
  [[nodiscard]] std::string another_is_faster() const {
    return "system mariadb " + database_.name() +
           " -e 'update shared_lock set version = version + 1'\n";
  }

  /// How many rows the statement changes, whose parameters are those of the key and the token.
  std::int64_t changed_by(const std::string& statement, int token) {
    line_.execute("prepare documented from \"" + statement + "\"");
    line_.execute("set @type = 'job', @source = 'night''s', @token = " + std::to_string(token));
    line_.execute("execute documented using @type, @source, @token");
    return line_.number("select row_count()");
  }

  mysql_database database_;
  mariadb_line line_{database_.url()};
  const std::string run_ = documented_mysql("a script", "sh");
  const std::string fence_ = documented_mysql("a script", "sql");
  const std::string optimistic_ = documented_mysql("optimistic commit", "sql");
};

TEST_F(DocumentedMysqlSql, AFencedScriptCommitsUnderRowlockRun) {
  const auto ran = run_in_shell(with_each(run_, "nightly --", "\"night's\" --"), fence_);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(total(), 1);
  EXPECT_EQ(line_.number("select fence_count from shared_lock"), 1);
}

TEST_F(DocumentedMysqlSql, AFencedScriptThatLosesItsLeaseWhileItWorksCommitsNothing) {
  const auto ran =
      run_in_shell(run_, with_before(fence_, "UPDATE shared_lock", another_is_faster()));
  EXPECT_EQ(ran.code, 76) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("ERROR 1242"));
  EXPECT_EQ(total(), 0);
}

TEST_F(DocumentedMysqlSql, AStaleTokenEndsTheScriptAndNothingCommits) {
  create_owned_rows();
  EXPECT_EQ(run_script(fence_, "6").code, 1);
  EXPECT_EQ(run_script(fence_, "8").code, 1);
  EXPECT_EQ(total(), 0);
  const auto ran = run_script(fence_);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(total(), 1);
}

TEST_F(DocumentedMysqlSql, TheFenceChangesOneRowOrNone) {
  const auto fence = documented_mysql("fence", "sql");
  create_owned_rows();
  EXPECT_EQ(changed_by(fence, 7), 1);
  EXPECT_EQ(changed_by(fence, 6), 0);
  line_.execute(
      "update shared_lock set owner = null, holder = null, acquired_at = null, expires_at = "
      "'1970-01-01'");
  EXPECT_EQ(changed_by(fence, 7), 0);
}

TEST_F(DocumentedMysqlSql, AReleaseUnsetsTheRowAndMovesItsVersion) {
  const auto release = documented_mysql("release", "sql");
  create_owned_rows();
  EXPECT_EQ(changed_by(release, 7), 1);
  EXPECT_EQ(line_.number("select count(*) from shared_lock where owner is null and version > 7 "
                         "and expires_at < utc_timestamp(6)"),
            1);
  EXPECT_EQ(changed_by(release, 7), 0);
}

TEST_F(DocumentedMysqlSql, AnOptimisticCommitMovesTheVersion) {
  create_rows();
  const auto ran = run_script(optimistic_);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(total(), 1);
  EXPECT_EQ(line_.number("select count(*) from shared_lock where version > 7"), 1);
}

TEST_F(DocumentedMysqlSql, AnOptimisticCommitIsRolledBackWhenSomebodyWasFaster) {
  create_rows();
  const auto ran = run_script(with_before(optimistic_, "UPDATE report", another_is_faster()));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.errors, ContainsRegex("ERROR (1242|1020)"));
  EXPECT_EQ(total(), 0);
}

TEST_F(DocumentedMysqlSql, AnOptimisticCommitDoesNotBeginWhileSomebodyOwnsTheRow) {
  create_owned_rows();
  EXPECT_EQ(run_script(optimistic_).code, 1);
  EXPECT_EQ(total(), 0);
}

TEST_F(DocumentedMysqlSql, AnOptimisticCommitNeitherBeginsNorEndsWhileTheRowStaysClosed) {
  create_rows();
  const auto ran = run_script(with_before(
      optimistic_, "UPDATE report",
      "system mariadb " + database_.name() +
          " -e \"update shared_lock set holder = 'h', expires_at = utc_timestamp(6) + interval 1 "
          "hour\"\n"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.errors, ContainsRegex("ERROR (1242|1020)"));
  EXPECT_EQ(total(), 0);
  EXPECT_EQ(run_script(optimistic_).code, 1);
  EXPECT_EQ(total(), 0);
  EXPECT_EQ(line_.number("select count(*) from shared_lock where version = 7"), 2);
}

}  // namespace

}  // namespace rowlock::tests
