// rowlock run --process-group: what the command starts is signalled and ended with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/terminal.hpp"
#include "support/patience.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;

/// A shell that does `first` when it is signalled, with a child of its own that ignores signals.
std::string child_that(const std::string& first) {
  return "sh -c 'trap \"\" INT TERM; sleep 60 & trap \"" + first +
         "; kill -KILL $!; exit\" INT TERM; echo started; "
         "while kill -0 $! 2>/dev/null; do wait $!; done'";
}

/// A shell that waits for its child, which the signal itself is to reach. In the foreground: what
/// a shell starts in the background ignores SIGINT.
const std::string script_with_child = "trap \"echo parent\" INT TERM; " + child_that("echo child");

/// One that ends with the next line of its input, and leaves a child.
std::string script_that_leaves(const std::string& child) { return child + " & read line; exit 3"; }

class CliRunGroupTest : public LockedCliTest {
 protected:
  [[nodiscard]] words in_group(const std::string& script, const words& options = {}) const {
    return script_under_lock(script, words{"--process-group"} + options);
  }
};

TEST_P(CliRunGroupTest, ASignalReachesWhatTheCommandStarted) {
  child_process running{in_group(script_with_child)};
  ASSERT_EQ(running.read_line(), "started");
  running.send_signal(SIGTERM);
  EXPECT_THAT(running.read_rest(), HasSubstr("child"));
  running.wait();
}

TEST_P(CliRunGroupTest, TheKeyIsKeptUntilAllThatTheCommandStartedHasEnded) {
  const std::string show =
      std::string{ROWLOCK_COMMAND} + " list " + database_->url() + " --table " + database_->table();
  child_process running{in_group(script_that_leaves(child_that(show)))};
  ASSERT_EQ(running.read_line(), "started");
  running.write_line("end");
  EXPECT_THAT(running.read_rest(), HasSubstr("invoice")) << "as the child reads the key";
  EXPECT_EQ(running.wait(), 3);
  EXPECT_THAT(running.errors(), HasSubstr("but not all that it has started"));
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliRunGroupTest, WhatDoesNotEndIsKilledAfterTheGraceTime) {
  child_process running{in_group(
      script_that_leaves("sh -c 'trap \"\" TERM; echo started; sleep 60'"), {"--grace", "300ms"})};
  ASSERT_EQ(running.read_line(), "started");
  running.write_line("end");
  EXPECT_EQ(running.read_rest(), "");
  EXPECT_EQ(running.wait(), 3);
}

TEST_P(CliRunGroupTest, ALossEndsWhatTheCommandStartedToo) {
  child_process running{
      in_group(script_with_child, {"--ttl", "3s", "--grace", "300ms", "--lost-exit-code", "9"})};
  ASSERT_EQ(running.read_line(), "started");
  execute("update shared_lock set version = version + 1");
  EXPECT_THAT(running.read_rest(), HasSubstr("child"));
  EXPECT_EQ(running.wait(), 9);
}

TEST_P(CliRunGroupTest, AProcessThatHasEndedAndIsNeverReapedKeepsNoKey) {
  child_process running{
      in_group(std::string{"exec 3<&0; "} + ROWLOCK_UNREAPED_CHILD + " <&3 & read line; exit 3",
               {"--grace", "1h"})};
  ASSERT_EQ(running.read_line(), "started");
  running.write_line("end");
  EXPECT_EQ(running.wait(), 3);
  EXPECT_EQ(running.errors(), "");
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliRunGroupTest, ACommandThatLeavesNothingEndsAsWithoutAGroup) {
  const auto ended = run(in_group("exit 5"));
  EXPECT_EQ(ended.code, 5);
  EXPECT_EQ(ended.errors, "");
  EXPECT_EQ(run(in_group("kill -KILL $$")).code, 128 + SIGKILL);
}

TEST_P(CliRunGroupTest, LeadHasItToo) {
  child_process running{
      rowlock("lead", words{"--type", "service", "--source", "a", "--process-group", "--", "sh",
                            "-c", script_with_child})};
  ASSERT_EQ(running.read_line(), "started");
  running.send_signal(SIGTERM);
  EXPECT_THAT(running.read_rest(), HasSubstr("child"));
  running.wait();
}

ROWLOCK_ON_EVERY_DATABASE(CliRunGroupTest);

class CliRunGroupTerminalTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_rowlock({"migrate", url_}).code, 0); }

  [[nodiscard]] words in_group(const std::string& script) const {
    return {ROWLOCK_COMMAND,   "run", url_, "--type", "invoice", "--source", "42",
            "--process-group", "--",  "sh", "-c",     script};
  }

  const temp_folder folder_;
  const std::string url_ = "sqlite://" + (folder_.path() / "locks.db").string();
};

TEST_F(CliRunGroupTerminalTest, TheCommandReadsAndWritesAndCtrlCReachesAllOfIt) {
  terminal screen{
      in_group("stty -echo tostop; echo ready; read line; echo got $line; " + script_with_child)};
  screen.read_until("ready");
  screen.type("seen\n");
  screen.read_until("got seen");
  screen.read_until("started");
  screen.type("\x03");
  screen.read_until("child");
}

TEST_F(CliRunGroupTerminalTest, CtrlZStopsTheCommandToo) {
  const std::string fifo = folder_.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  terminal screen{in_group(
      "exec 4<>" + fifo + "; stty -echo; echo $$ ready; while read line <&4; do echo $line; done")};
  const auto shown = screen.read_until("ready");
  const std::string pid = shown.substr(0, shown.find(' '));
  screen.type("\x1a");
  screen.await_stop();
  // A process that does not run has a stop signal waiting for it: it stops when it runs next.
  EXPECT_TRUE(comes([&] {
    return run({"ps", "-o", "stat=", "-p", pid}).output.substr(0, 1) == "T";
  }));
  screen.send_signal(SIGCONT);
  run({"sh", "-c", "echo again > " + fifo});
  screen.read_until("again");
}

}  // namespace

}  // namespace rowlock::tests
