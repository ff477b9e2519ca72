// What docs/sql.md says of PostgreSQL, executed as it stands there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/documented_script.hpp"
#include "support/postgres_schema.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;
using testing::Not;

/// The document speaks of a table `shared_lock`, which is found by the search path.
class DocumentedSql : public testing::Test {
 protected:
  DocumentedSql() {
    if (run_rowlock({"migrate", url_}).code != 0) throw std::runtime_error{"migrate failed"};
    execute("create table report as select 0 as total");
  }

  [[nodiscard]] pqxx::connection connect() const { return pqxx::connection{url_}; }
  [[nodiscard]] pqxx::result query(const std::string& sql) const {
    auto connection = connect();
    pqxx::nontransaction reader{connection};
    return reader.exec(sql);
  }
  void execute(const std::string& sql) const {
    auto connection = connect();
    pqxx::nontransaction{connection}.exec(sql);
  }
  [[nodiscard]] long long number(const std::string& sql) const {
    return query(sql)[0][0].as<long long>();
  }
  [[nodiscard]] long long total() const { return number("select total from report"); }

  /// A row of job/nightly without an owner.
  void create_row() const {
    execute("insert into shared_lock (lock_type, source_id, version) values ('job', 'nightly', 7)");
  }
  void create_owned_row() const {
    create_row();
    execute(
        "update shared_lock set owner = repeat('a', 32), holder = 'h', acquired_at = now(), "
        "expires_at = now() + interval '1 hour'");
  }

  [[nodiscard]] result run_in_shell(const std::string& shell, const std::string& script,
                                    std::map<std::string, std::string> environment = {}) const {
    environment["URL"] = url_;
    return run_nightly(shell, script, environment);
  }

  /// `script` by psql, with the variables that the document uses.
  [[nodiscard]] result run_in_psql(const std::string& script, const std::string& seen = "7") const {
    return run_in_shell(
        "psql -X \"$URL\" -v ON_ERROR_STOP=1 -v type=job -v source=nightly -v token=7 "
        "-v owner=$(printf %032d 0) -v holder=h -v ttl_ms=60000 -v seen=" +
            seen + " -f nightly.sql",
        script);
  }

  const std::string fence_ = documented_sql("PostgreSQL: a psql script", "sql", "AS fenced");
  const std::string run_ = documented_sql("PostgreSQL: a psql script", "sh");
  const std::string optimistic_ = documented_sql("PostgreSQL: a psql script", "sql", "AS seen");

 private:
  static std::string url_in(const std::string& schema) {
    const auto url = postgres_url();
    return url + (url.find('?') == std::string::npos ? '?' : '&') + "options=-c%20search_path%3D" +
           schema;
  }

  postgres_schema schema_;
  std::string url_ = url_in(schema_.name());
};

TEST_F(DocumentedSql, AFencedScriptCommitsUnderRowlockRun) {
  const auto ran = run_in_shell(run_, fence_);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(total(), 1);
  EXPECT_EQ(number("select fence_count from shared_lock"), 1);
}

TEST_F(DocumentedSql, AFencedScriptThatLosesItsLeaseWhileItWorksCommitsNothing) {
  // Another process takes the key over when the work is done and the fence is still to come.
  const auto script =
      with_before(fence_, "UPDATE shared_lock",
                  "\\! psql -X \"$URL\" -qc 'update shared_lock set version = version + 1'\n");
  const auto ran = run_in_shell(run_, script);
  EXPECT_EQ(ran.code, 76) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("no rows returned for \\gset"));
  EXPECT_EQ(total(), 0);
}

TEST_F(DocumentedSql, AStaleTokenEndsTheScriptAndNothingCommits) {
  create_owned_row();
  const auto begin = run_.find('\'') + 1;
  const auto psql = run_.substr(begin, run_.rfind('\'') - begin);
  const auto run_with = [&](const std::string& token) {
    return run_in_shell(
        psql, fence_,
        {{"ROWLOCK_TYPE", "job"}, {"ROWLOCK_SOURCE", "nightly"}, {"ROWLOCK_TOKEN", token}});
  };
  EXPECT_EQ(run_with("6").code, 3);
  EXPECT_EQ(run_with("8").code, 3);
  EXPECT_EQ(total(), 0);
  const auto ran = run_with("7");
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(total(), 1);
}

TEST_F(DocumentedSql, TheFenceChangesOneRowOrNone) {
  const auto fence = documented_sql("PostgreSQL: fence", "sql");
  create_owned_row();
  EXPECT_THAT(run_in_psql(fence).output, HasSubstr("UPDATE 1"));
  execute("update shared_lock set version = 8");
  EXPECT_THAT(run_in_psql(fence).output, HasSubstr("UPDATE 0"));
}

TEST_F(DocumentedSql, AReleaseUnsetsTheRowAndMovesItsVersion) {
  const auto release = documented_sql("PostgreSQL: release", "sql");
  create_owned_row();
  EXPECT_THAT(run_in_psql(release).output, HasSubstr("UPDATE 1"));
  EXPECT_EQ(number("select count(*) from shared_lock where owner is null and version > 7 and "
                   "expires_at < now()"),
            1);
  EXPECT_THAT(run_in_psql(release).output, HasSubstr("UPDATE 0"));
}

TEST_F(DocumentedSql, AnOptimisticCommitMovesTheVersion) {
  create_row();
  const auto ran = run_in_psql(optimistic_);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(total(), 1);
  EXPECT_GT(number("select version from shared_lock"), 7);
}

TEST_F(DocumentedSql, AnOptimisticCommitIsRolledBackWhenSomebodyWasFaster) {
  create_row();
  const auto ran = run_in_psql(
      with_before(optimistic_, "UPDATE report",
                  "\\! psql -X \"$URL\" -qc 'update shared_lock set version = version + 1'\n"));
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(total(), 0);
}

TEST_F(DocumentedSql, AnOptimisticCommitDoesNotBeginWhileSomebodyOwnsTheRow) {
  create_owned_row();
  EXPECT_EQ(run_in_psql(optimistic_).code, 3);
  EXPECT_EQ(total(), 0);
}

TEST_F(DocumentedSql, AnOptimisticCommitNeitherBeginsNorEndsWhileTheRowStaysClosed) {
  create_row();
  const std::string close = "update shared_lock set expires_at = now() + interval '1 hour'";
  const auto ran = run_in_psql(
      with_before(optimistic_, "UPDATE report", "\\! psql -X \"$URL\" -qc \"" + close + "\"\n"));
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.errors, HasSubstr("no rows returned for \\gset"));
  EXPECT_EQ(total(), 0);
  EXPECT_EQ(run_in_psql(optimistic_).code, 3);
  EXPECT_EQ(number("select version from shared_lock"), 7);
}

TEST_F(DocumentedSql, TheStatementsOfAnOptimisticCommitDoAsThoseOfTheScript) {
  const auto read = documented_sql("PostgreSQL: optimistic commit", "sql", "SELECT version FROM");
  const auto advance = documented_sql("PostgreSQL: optimistic commit", "sql", "version = :seen");
  create_row();
  EXPECT_THAT(run_in_psql(read).output, HasSubstr("7\n(1 row)"));
  EXPECT_THAT(run_in_psql(advance, "6").output, HasSubstr("UPDATE 0"));
  execute("update shared_lock set expires_at = now() + interval '1 hour'");
  EXPECT_THAT(run_in_psql(read).output, HasSubstr("(0 rows)"));
  EXPECT_THAT(run_in_psql(advance, "7").output, HasSubstr("UPDATE 0"));
  execute("update shared_lock set expires_at = now()");
  EXPECT_THAT(run_in_psql(advance, "7").output, HasSubstr("UPDATE 1"));
}

TEST_F(DocumentedSql, AnAcquisitionDoesNotWaitForATransactionThatHasTheRow) {
  create_row();
  auto another = connect();
  pqxx::work has_the_row{another};
  has_the_row.exec("select from shared_lock for update");
  const auto acquire = documented_sql("PostgreSQL: acquire", "sql");
  const std::string limited = "set statement_timeout = '20s';\n" + acquire;
  EXPECT_THAT(run_in_psql(limited).output, HasSubstr("(0 rows)"));
  has_the_row.abort();
  EXPECT_THAT(run_in_psql(limited).output, HasSubstr("(1 row)"));
}

TEST_F(DocumentedSql, ANotificationIsSentIfTheRowIsWaitedFor) {
  const auto notify = documented_sql("PostgreSQL: release", "sql", "pg_notify");
  create_row();
  const auto said = [&] {
    return run_in_psql(
               "select 'rowlock_' || 'shared_lock'::regclass::oid as channel \\gset\n"
               "listen :\"channel\";\n" +
               notify)
        .output;
  };
  EXPECT_THAT(said(), Not(HasSubstr("Asynchronous notification")));
  execute("update shared_lock set waiting_until = now() + interval '1 hour'");
  EXPECT_THAT(said(), HasSubstr(R"(with payload "job nightly")"));
}

}  // namespace

}  // namespace rowlock::tests
