// rowlock migrate: says what it did, does nothing twice, and prints what it would do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <vector>

#include "cli/cli_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr auto applied = "applied 001 shared_lock\n";
constexpr auto nothing_to_do = "nothing to do: schema version 1\n";

class CliMigrateTest : public CliTest {};

TEST_P(CliMigrateTest, SaysWhatItApplied) {
  const auto first = migrate();
  EXPECT_EQ(first.code, 0) << first.errors;
  EXPECT_EQ(first.output, applied);
}

TEST_P(CliMigrateTest, DoesNothingTheSecondTime) {
  ASSERT_EQ(migrate().code, 0);
  const auto second = migrate();
  EXPECT_EQ(second.code, 0) << second.errors;
  EXPECT_EQ(second.output, nothing_to_do);
}

TEST_P(CliMigrateTest, FiftyAtOnceApplyEachMigrationOnce) {
  std::vector<std::unique_ptr<child_process>> all;
  for (int started = 0; started < 50; ++started) {
    all.push_back(std::make_unique<child_process>(rowlock("migrate")));
  }
  int how_many_applied = 0;
  for (const auto& one : all) {
    const auto left = result_of(*one);
    EXPECT_EQ(left.code, 0) << left.errors;
    EXPECT_THAT(left.output, testing::AnyOf(applied, nothing_to_do));
    if (left.output == applied) ++how_many_applied;
  }
  EXPECT_EQ(how_many_applied, 1);
}

TEST_P(CliMigrateTest, ThePrintedSqlDoesTheSame) {
  database_->execute(run(rowlock("migrate", {"--print"})).output);
  EXPECT_EQ(migrate().output, nothing_to_do);
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliMigrateTest, ThePrintedDownSqlTakesItBack) {
  ASSERT_EQ(migrate().code, 0);
  database_->execute(run(rowlock("migrate", {"--print", "--down"})).output);
  EXPECT_EQ(migrate().output, applied);
}

TEST_P(CliMigrateTest, RepairsTheRecordThatACleanerOfTestsEmptied) {
  const words hold{"--type", "job", "--source", "nightly", "--", "true"};
  ASSERT_EQ(migrate().code, 0);
  ASSERT_EQ(run(rowlock("run", hold)).code, 0);
  for (const auto* lost : {"delete from shared_lock_schema", "drop table shared_lock_schema"}) {
    execute(lost);
    const auto refused = run(rowlock("run", hold));
    EXPECT_EQ(refused.code, 69) << lost;
    EXPECT_THAT(refused.errors, HasSubstr("run `rowlock migrate ")) << lost;
    const auto repaired = migrate();
    EXPECT_EQ(repaired.code, 0) << repaired.errors;
    EXPECT_EQ(repaired.output, applied) << lost;
    EXPECT_EQ(run(rowlock("run", hold)).code, 0) << lost;
    EXPECT_EQ(number("select count(*) from shared_lock"), 1) << lost;
    EXPECT_EQ(migrate().output, nothing_to_do) << lost;
  }
}

TEST_P(CliMigrateTest, RepairsThatRecordWithThePrintedSqlToo) {
  ASSERT_EQ(migrate().code, 0);
  execute("delete from shared_lock_schema");
  database_->execute(run(rowlock("migrate", {"--print"})).output);
  EXPECT_EQ(migrate().output, nothing_to_do);
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliMigrateTest, PrintsForTheTableThatIsNamed) {
  const auto printed =
      run_rowlock({"migrate", database_->url(), "--print", "--table", "other_lock"});
  EXPECT_EQ(printed.code, 0) << printed.errors;
  EXPECT_THAT(printed.output, ContainsRegex("CREATE TABLE (IF NOT EXISTS )?[\"`]other_lock[\"`]"));
  EXPECT_THAT(printed.output, ContainsRegex("[\"`]other_lock_schema[\"`]"));
  EXPECT_THAT(printed.output, HasSubstr("(1, '001_shared_lock')"));
}

TEST_P(CliMigrateTest, ShowsHowToRepairWhenTheTableWasDropped) {
  for (const auto* table : {"shared_lock", "other_lock"}) {
    const auto migrate_it = [&] {
      return run_rowlock({"migrate", database_->url(), "--table", table});
    };
    ASSERT_EQ(migrate_it().code, 0);
    database_->execute(std::string{"DROP TABLE "} + table);
    const auto refused = migrate_it();
    EXPECT_NE(refused.code, 0) << refused.output;
    std::smatch repair;
    ASSERT_TRUE(std::regex_search(refused.errors, repair, std::regex{"run (.*), then run"}))
        << refused.errors;
    std::string sql = repair[1];
    // That of MariaDB has such quotes of its own.
    if (sql.starts_with('`')) sql = sql.substr(1, sql.size() - 2);
    database_->execute(sql);
    EXPECT_EQ(migrate_it().output, applied);
  }
}

ROWLOCK_ON_EVERY_DATABASE(CliMigrateTest);

TEST(CliMigratePrintTest, ConnectsToNothing) {
  const auto printed = run_rowlock({"migrate", "--print", "postgresql://127.0.0.1:1/"});
  EXPECT_EQ(printed.code, 0) << printed.errors;
  EXPECT_THAT(printed.output, HasSubstr("CREATE TABLE"));
}

TEST(CliMigratePrintTest, DownIsOnlyForPrinting) {
  const temp_folder folder;
  const auto url = "sqlite://" + (folder.path() / "locks.db").string();
  EXPECT_EQ(run_rowlock({"migrate", url, "--down"}).code, 64);
}

TEST(CliMigratePrintTest, AnOptionIsOneWordAndAWrongOneIsNotShown) {
  EXPECT_EQ(run_rowlock({"migrate", "--print", "--with", "history", "postgresql://"}).code, 0);
  for (const auto* option : {"--with", "--without"}) {
    const auto refused = run_rowlock({"migrate", option, "postgresql://app:s3cret@db/shop"});
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.errors, HasSubstr(std::string{option} + ": is not known: write history"));
    EXPECT_THAT(refused.errors, testing::Not(HasSubstr("s3cret")));
  }
}

TEST(CliMigratePrintTest, TheSqliteShellMakesTheSameSchemaOfIt) {
  const temp_folder folder;
  const std::string ours = folder.path() / "ours.db";
  const std::string theirs = folder.path() / "theirs.db";
  ASSERT_EQ(run_rowlock({"migrate", "sqlite://" + ours}).code, 0);
  const auto piped = run({"sh", "-c", R"("$0" migrate --print "sqlite://$1" | sqlite3 -bail "$1")",
                          ROWLOCK_COMMAND, theirs});
  ASSERT_EQ(piped.code, 0) << piped.errors;

  const auto schema = [](const std::string& path) {
    return run({"sqlite3", path, ".schema"}).output;
  };
  EXPECT_THAT(schema(ours), HasSubstr("shared_lock"));
  EXPECT_EQ(schema(ours), schema(theirs));
}

}  // namespace

}  // namespace rowlock::tests
