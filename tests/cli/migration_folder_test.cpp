// rowlock migrate --print --format plain and sqitch: the clients and Sqitch apply it and take it
// back.
#include "cli/migration_folder_test.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rowlock::tests {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CliMigrationFolder : public MigrationFolderTest {};

TEST_P(CliMigrationFolder, PlainIsForTheClientAndMayBeRunTwice) {
  const auto up = on_this(write("plain"));
  EXPECT_THAT(names(), ElementsAre("001_shared_lock.down.sql", "001_shared_lock.up.sql",
                                   "history.down.sql", "history.up.sql"));
  run_quietly(up);
  expect_applied();
  run_quietly(up);
  expect_same_after_a_second_time();

  const auto down = replaced(replaced(up, "001_shared_lock.up", "history.down"), "history.up",
                             "001_shared_lock.down");
  run_quietly(down);
  run_quietly(down);
  expect_taken_back();
}

TEST_P(CliMigrationFolder, PlainEndsTheHistoryTwiceAndKeepsItsEvents) {
  const auto up = on_this(write("plain"));
  run_quietly(up);
  expect_applied();
  const auto end =
      replaced(replaced(up, "001_shared_lock.up", "history.down"), "history.up", "history.down");
  run_quietly(end);
  expect_same_after_a_second_time();
  EXPECT_EQ(run(rowlock("migrate", {"--without", "history"})).output,
            "nothing to do: schema version 1\n");
}

TEST_P(CliMigrationFolder, SqitchDeploysVerifiesAndReverts) {
  const auto next = write("sqitch");
  // The registry is to be gone with this test's database.
  std::string target = "db:sqlite:" + path();
  std::string registry = "sqitch";
  if (is_mariadb()) {
    target = "db:" + database_->url();
    registry = database_->url().substr(database_->url().rfind('/') + 1);
  } else if (!is_sqlite()) {
    target = "db:pg" + database_->url().substr(database_->url().find("://"));
    registry = database_->table().substr(0, database_->table().find('.'));
  }
  const auto sqitch = [&](const std::string& command) {
    return run({"env", "SQITCH_SYSTEM_CONFIG=/dev/null", "SQITCH_USER_CONFIG=/dev/null",
                "SQITCH_FULLNAME=tester", "SQITCH_EMAIL=tester@localhost", "sh", "-c", command});
  };
  const auto placed = next.find("db:");
  ASSERT_NE(placed, std::string::npos) << next;
  const auto deploy = next.substr(0, placed) + "--registry " + registry + " '" + target + '\'';
  const auto first = sqitch(deploy);
  EXPECT_EQ(first.code, 0) << first.output << first.errors;
  expect_applied();
  const auto verified = sqitch(replaced(deploy, "deploy --verify", "verify"));
  EXPECT_EQ(verified.code, 0) << verified.output << verified.errors;
  const auto second = sqitch(deploy);
  EXPECT_EQ(second.code, 0) << second.output << second.errors;
  EXPECT_THAT(second.output, HasSubstr("up-to-date"));
  expect_same_after_a_second_time();

  database_->execute(in_table("drop table shared_lock_event"));
  EXPECT_NE(sqitch(replaced(deploy, "deploy --verify", "verify")).code, 0);

  const auto reverted = sqitch(replaced(deploy, "deploy --verify", "revert -y"));
  EXPECT_EQ(reverted.code, 0) << reverted.output << reverted.errors;
  expect_taken_back();
}

TEST_P(CliMigrationFolder, WithoutTheHistoryHasTheTableOnly) {
  const auto written = run(rowlock("migrate", {"--print", "--output", folder()}));
  EXPECT_EQ(written.code, 0) << written.errors;
  EXPECT_THAT(names(), ElementsAre("001_shared_lock.down.sql", "001_shared_lock.up.sql"));
}

ROWLOCK_ON_EVERY_DATABASE(CliMigrationFolder);

}  // namespace

}  // namespace rowlock::tests
