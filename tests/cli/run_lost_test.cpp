// A command whose key is lost is signalled to stop.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <pqxx/pqxx>
#include <string>

#include "cli/cli_test.hpp"
#include "support/postgres_schema.hpp"
#include "support/tcp_proxy.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class CliRunLostTest : public LockedCliTest {
 protected:
  /// As when another process takes the key away.
  void move_version() const { execute("update shared_lock set version = version + 1"); }
};

TEST_P(CliRunLostTest, TheCommandGetsSigterm) {
  child_process running{script_under_lock(script_with(R"(trap "echo signalled; exit 3" TERM)"),
                                          {"--ttl", "3s", "--grace", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  move_version();
  EXPECT_EQ(running.read_line(), "signalled");
  EXPECT_EQ(running.wait(), 76);
  EXPECT_THAT(running.errors(), HasSubstr("rowlock: lost invoice/42"));
}

TEST_P(CliRunLostTest, WhoTookTheKeyAndWhyIsSaid) {
  child_process running{
      script_under_lock(script_with(R"(trap "exit 3" TERM)"), {"--ttl", "3s", "--grace", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  const auto taken = run(rowlock("release", {"--type", "invoice", "--source", "42", "--force",
                                             "--reason", "web1 is gone", "--by", "ann", "--yes"}));
  ASSERT_EQ(taken.code, 0) << taken.errors;
  EXPECT_EQ(running.wait(), 76);
  const auto said = running.errors();
  EXPECT_THAT(said, HasSubstr("invoice/42 was lost: it was taken away; it has no holder now"));
  EXPECT_THAT(said, HasSubstr("web1 is gone"));
  EXPECT_THAT(said, HasSubstr("ann"));
}

TEST_P(CliRunLostTest, WhoHasTheKeyNowIsSaid) {
  child_process running{script_under_lock("echo started; read line", {"--ttl", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  const auto freed = run(rowlock("release", {"--type", "invoice", "--source", "42", "--force",
                                             "--reason", "a test", "--yes"}));
  ASSERT_EQ(freed.code, 0) << freed.errors;
  child_process next{script_under_lock("echo started; read line", {"--holder", "web2"})};
  ASSERT_EQ(next.read_line(), "started");
  running.write_line("done");
  EXPECT_EQ(running.wait(), 76);
  EXPECT_THAT(
      running.errors(),
      ContainsRegex("invoice/42 was lost: it was taken away; web2 has it since [0-9].* UTC"));
}

TEST_P(CliRunLostTest, WhyAnEarlierHolderLostTheKeyIsNotSaid) {
  execute(
      "insert into shared_lock (lock_type, source_id, version, force_reason) "
      "values ('invoice', '42', 1, 'web1 is gone')");
  child_process running{
      script_under_lock(script_with(R"(trap "exit 3" TERM)"), {"--ttl", "3s", "--grace", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  move_version();
  EXPECT_EQ(running.wait(), 76);
  const auto said = running.errors();
  EXPECT_THAT(said, HasSubstr("invoice/42 was lost: it was taken away"));
  EXPECT_THAT(said, Not(HasSubstr("web1 is gone")));
}

TEST_P(CliRunLostTest, ThatATransactionHasTheRowIsSaid) {
  // A busy machine may stop it for seconds: then it found no transaction.
  child_process running{
      script_under_lock(script_with(R"(trap "exit 3" TERM)"), {"--ttl", "6s", "--grace", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  const auto locking = database_->lock_rows_of(database_->table());
  EXPECT_EQ(running.wait(), 76);
  EXPECT_THAT(running.errors(),
              HasSubstr("invoice/42 was lost: another transaction has had its row locked for "));
}

TEST_P(CliRunLostTest, ThatTheRowIsGoneIsSaid) {
  child_process running{
      script_under_lock(script_with(R"(trap "exit 3" TERM)"), {"--ttl", "3s", "--grace", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  execute("delete from shared_lock");
  EXPECT_EQ(running.wait(), 76);
  EXPECT_THAT(running.errors(), HasSubstr("invoice/42 was lost: its row is gone"));
}

TEST_P(CliRunLostTest, ACommandThatHangsLosesTheKeyOnceAtMostIsOver) {
  child_process running{script_under_lock(script_with(R"(trap "echo signalled; exit 3" TERM)"),
                                          {"--ttl", "3s", "--at-most", "3s", "--grace", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  EXPECT_EQ(running.read_line(), "signalled");
  EXPECT_EQ(running.wait(), 76);
  EXPECT_THAT(running.errors(), HasSubstr("invoice/42 was lost: --at-most 3.0s is over"));
}

TEST_P(CliRunLostTest, ACommandThatDoesNotStopGetsSigkillAfterTheGraceTime) {
  child_process running{script_under_lock(script_with(R"(trap "echo signalled" TERM)"),
                                          {"--ttl", "3s", "--grace", "2s"})};
  ASSERT_EQ(running.read_line(), "started");
  move_version();
  EXPECT_EQ(running.read_line(), "signalled");
  EXPECT_EQ(running.read_rest(), "");
  EXPECT_EQ(running.wait(), 76);
}

TEST_P(CliRunLostTest, ALossThatIsFoundAtTheReleaseCountsToo) {
  child_process running{script_under_lock("echo started; read line", {"--ttl", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  move_version();
  running.write_line("done");
  EXPECT_EQ(running.wait(), 76);
  EXPECT_THAT(running.errors(), HasSubstr("lost before the command ended"));
}

TEST_P(CliRunLostTest, TheExitCodeOfALossCanBeChosen) {
  child_process running{
      script_under_lock("echo started; read line", {"--ttl", "1h", "--lost-exit-code", "7"})};
  ASSERT_EQ(running.read_line(), "started");
  move_version();
  running.write_line("done");
  EXPECT_EQ(running.wait(), 7);
}

TEST_P(CliRunLostTest, WhoeverHasTheKeyNowKeepsIt) {
  child_process running{script_under_lock("echo started; read line", {"--ttl", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  move_version();
  const auto version = number("select version from shared_lock");
  running.write_line("done");
  running.wait();
  EXPECT_EQ(number("select version from shared_lock"), version);
}

ROWLOCK_ON_EVERY_DATABASE(CliRunLostTest);

TEST(CliRunUnrenewedTest, WhatTheLastRenewalMetIsSaid) {
  const postgres_schema schema;
  const words table{"--table", schema.table().text()};
  ASSERT_EQ(run_rowlock(words{"migrate", postgres_url()} + table).code, 0);
  pqxx::connection known{postgres_url()};
  auto network = std::make_unique<tcp_proxy>(known.hostname(), known.port());
  // A busy machine may stop it for seconds: then there was no renewal, and none that failed.
  child_process running{words{ROWLOCK_COMMAND, "run", url_through(*network)} + table +
                        words{"--type", "invoice", "--source", "42", "--ttl", "6s", "--", "sh",
                              "-c", script_with(R"(trap "exit 3" TERM)")}};
  ASSERT_EQ(running.read_line(), "started");
  network.reset();  // no server listens there from now on
  EXPECT_EQ(running.wait(), 76);
  EXPECT_THAT(running.errors(),
              ContainsRegex("invoice/42 was lost: it was not renewed in the last [^:]+: "
                            "[^\n]*127.0.0.1"));
}

TEST(CliRunReleaseTest, AReleaseThatCannotBeMadeIsSaidAndTheExitCodeIsTheCommands) {
  const temp_folder folder;
  const std::string path = folder.path() / "locks.db";
  const std::string url = "sqlite://" + path;
  ASSERT_EQ(run_rowlock({"migrate", url}).code, 0);
  child_process running{{ROWLOCK_COMMAND, "run", url, "--type", "invoice", "--source", "42", "--",
                         "sh", "-c", "echo started; read line; exit 3"}};
  ASSERT_EQ(running.read_line(), "started");

  SQLite::Database rival{path, SQLite::OPEN_READWRITE};
  SQLite::Transaction writing{rival, SQLite::TransactionBehavior::IMMEDIATE};
  running.write_line("done");
  EXPECT_EQ(running.wait(), 3);
  EXPECT_THAT(
      running.errors(),
      HasSubstr("rowlock: invoice/42 could not be released yet; it frees itself within 30s"));
}

}  // namespace

}  // namespace rowlock::tests
