// rowlock doctor: what it finds in a real database, one thing wrong at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/diagnosis.hpp"
#include "support/mariadb_line.hpp"
#include "support/mysql_database.hpp"
#include "support/tcp_proxy.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliDoctorTest : public LockedCliTest {
 protected:
  [[nodiscard]] diagnosis diagnose() const {
    return diagnosis{{database_->url(), "--table", database_->table()}};
  }
};

TEST_P(CliDoctorTest, FindsNothingWrongInATableThatWasMigrated) {
  const auto found = diagnose();
  EXPECT_EQ(found.names_with("ok"), everything_but_settings) << found.text();
  EXPECT_EQ(found["schema"].at("version"), 1);
  EXPECT_EQ(found["schema"].at("needed"), 1);
  EXPECT_TRUE(found["server"].at("version").at(0).is_number());
  EXPECT_TRUE(found["clock"].at("difference_ms").is_number());
  EXPECT_TRUE(found["round_trip"].at("median_ms").is_number());
  EXPECT_FALSE(found["history"].at("recorded"));
  EXPECT_EQ(found.code(), found.status("settings") == "ok" ? 0 : 75);
  EXPECT_EQ(found.is_ok(), found.code() == 0);
}

TEST_P(CliDoctorTest, ReleasesItsLeaseAndLeavesOneRowForEachRun) {
  (void)diagnose();
  (void)diagnose();
  EXPECT_EQ(number("select count(*) from shared_lock"), 2);
  EXPECT_EQ(number("select count(*) from shared_lock where lock_type = 'rowlock-doctor' and "
                   "owner is null and ended_as = 'released'"),
            2);
}

TEST_P(CliDoctorTest, PrintsOneLineForEachCheck) {
  const auto printed = run(rowlock("doctor"));
  EXPECT_EQ(std::count(printed.output.begin(), printed.output.end(), '\n'), 15);
  EXPECT_THAT(printed.output,
              HasSubstr("\nok       schema              version 1, as this rowlock needs it\n"));
  EXPECT_EQ(printed.errors, "");
}

TEST_P(CliDoctorTest, SaysThatChangesAreRecorded) {
  ASSERT_EQ(run(rowlock("migrate", {"--with", "history"})).code, 0);
  EXPECT_TRUE(diagnose()["history"].at("recorded"));
}

TEST_P(CliDoctorTest, SaysThatATableOfEventsHasAnotherForm) {
  execute("create table shared_lock_event (another integer)");
  const auto found = diagnose();
  const bool is_sqlite =
      found["server"].at("product") == "SQLite";  // there its triggers end changes
  EXPECT_EQ(found.status("history"), is_sqlite ? "failed" : "ok");
  EXPECT_THAT(found["history"].at("detail"),
              testing::AnyOf(HasSubstr("could not be read"), HasSubstr("cannot be read")));
}

TEST_P(CliDoctorTest, FailsOnAnOlderSchemaAndSaysWhatToRun) {
  execute("update shared_lock_schema set number = 0");
  const auto found = diagnose();
  EXPECT_EQ(found.code(), 69);
  EXPECT_EQ(found.names_with("failed"), std::set<std::string>{"schema"});
  EXPECT_THAT(found.advice("schema"), HasSubstr("rowlock migrate"));
  EXPECT_EQ(found.names_with("skipped"),
            (std::set<std::string>{"history", "lease", "table", "time_left"}));
  EXPECT_EQ(number("select count(*) from shared_lock"), 0);
}

TEST_P(CliDoctorTest, FailsOnANewerSchema) {
  execute("update shared_lock_schema set number = 99");
  const auto found = diagnose();
  EXPECT_EQ(found.code(), 69);
  EXPECT_EQ(found["schema"].at("version"), 99);
  EXPECT_THAT(found.advice("schema"), HasSubstr("deploy a newer rowlock"));
}

TEST_P(CliDoctorTest, FailsOnATableWithoutPrimaryKey) {
  execute("create table shared_lock_copy as select * from shared_lock");
  execute("drop table shared_lock");
  execute("create table shared_lock as select * from shared_lock_copy");
  const auto found = diagnose();
  EXPECT_EQ(found.code(), 69);
  EXPECT_EQ(found.status("schema"), "ok");
  EXPECT_EQ(found.status("table"), "failed");
  EXPECT_THAT(found.advice("table"), HasSubstr("primary key"));
  EXPECT_EQ(found.status("lease"), "skipped");
}

ROWLOCK_ON_EVERY_DATABASE(CliDoctorTest);

class CliDoctorWithoutTableTest : public CliTest {};

TEST_P(CliDoctorWithoutTableTest, FailsAndMakesNone) {
  database_->execute("create table other (number integer)");  // makes the file
  const diagnosis found{{database_->url(), "--table", database_->table()}};
  EXPECT_EQ(found.code(), 69);
  EXPECT_EQ(found.names_with("failed"), std::set<std::string>{"schema"});
  EXPECT_THAT(found.advice("schema"), HasSubstr("rowlock migrate"));
  EXPECT_TRUE(found["schema"].at("version").is_null());
  EXPECT_EQ(found.names_with("ok"),
            (std::set<std::string>{"clock", "connection", "round_trip", "server"}));
  EXPECT_NE(found.status("settings"), "skipped");
  EXPECT_EQ(run(rowlock("list")).code, 69);
  database_->execute("drop table other");
}

ROWLOCK_ON_EVERY_DATABASE(CliDoctorWithoutTableTest);

TEST(CliDoctorConnectionTest, ThatCannotBeOpenedFailsWithoutThePassword) {
  for (const auto* url :
       {"postgresql://app:sesame@127.0.0.1:1/sesame", "mysql://app:sesame@127.0.0.1:1/sesame",
        "host=127.0.0.1 port=1 user=app password=sesame dbname=sesame"}) {
    const diagnosis found{{url}};
    EXPECT_EQ(found.code(), 69);
    EXPECT_EQ(found.names_with("failed"), std::set<std::string>{"connection"});
    EXPECT_EQ(found.names_with("skipped").size(), 13U);
    EXPECT_THAT(found.text(), AllOf(HasSubstr("host and port"), Not(HasSubstr("sesame"))));
    EXPECT_THAT(run_rowlock({"doctor", url}).output, Not(HasSubstr("sesame")));
  }
}

TEST(CliDoctorConnectionTest, ToAMissingFileFailsAndCreatesNone) {
  const temp_folder folder;
  const auto path = folder.path() / "locks.db";
  const diagnosis found{{"sqlite://" + path.string()}};
  EXPECT_EQ(found.code(), 69);
  EXPECT_THAT(found.advice("connection"), HasSubstr("rowlock migrate sqlite://"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(CliDoctorConnectionTest, OfAWrongUrlIsWrongUsage) {
  for (const auto& wrong : {words{"shop"}, words{"oracle://db/shop"}, words{},
                            words{"sqlite:///tmp/a.db", "--table", "no name"},
                            words{"mysql://app@db/shop?colour=red"}}) {
    const auto refused = run_rowlock(words{"doctor"} + wrong);
    EXPECT_EQ(refused.code, 64) << refused.errors;
    EXPECT_EQ(refused.output, "");
    EXPECT_THAT(refused.errors, HasSubstr("rowlock: "));
  }
}

TEST(CliDoctorConnectionTest, ToAServerThatDoesNotAnswerFailsInTime) {
  const auto where = mariadb_address_of(mariadb_url());
  tcp_proxy network{where.host, std::to_string(where.port)};
  network.black_hole();
  const diagnosis found{{"mysql://app@127.0.0.1:" + std::to_string(network.port()) + "/shop"}};
  EXPECT_EQ(found.names_with("failed"), std::set<std::string>{"connection"});
}

}  // namespace

}  // namespace rowlock::tests
