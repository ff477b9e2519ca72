// Signals reach the command, once, and nothing leaves a command running without its lock.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/terminal.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

class CliRunSignalsTest : public LockedCliTest {};

TEST_P(CliRunSignalsTest, ASignalIsPassedOnToTheCommand) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const std::string trap =
        "trap 'exit " + std::to_string(100 + number) + "' " + std::to_string(number);
    child_process running{script_under_lock(script_with(trap))};
    ASSERT_EQ(running.read_line(), "started");
    running.send_signal(number);
    EXPECT_EQ(running.wait(), 100 + number);
  }
}

TEST_P(CliRunSignalsTest, ACommandThatASignalEndsIsReleasedAndSaid) {
  child_process running{script_under_lock("echo started; exec cat")};
  ASSERT_EQ(running.read_line(), "started");
  running.send_signal(SIGTERM);
  EXPECT_EQ(running.wait(), 128 + SIGTERM);
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliRunSignalsTest, ASignalEndsTheWaitForTheKey) {
  child_process holder{script_under_lock("echo started; read line")};
  ASSERT_EQ(holder.read_line(), "started");
  child_process waiter{script_under_lock("echo mine", {"--wait", "forever"})};
  await_readiness_for(SIGINT, waiter.pid());
  waiter.send_signal(SIGINT);
  EXPECT_EQ(waiter.wait(), 128 + SIGINT);
  EXPECT_EQ(waiter.read_rest(), "");
}

TEST_P(CliRunSignalsTest, ASignalThatWasIgnoredStaysIgnored) {
  child_process holder{script_under_lock("echo started; read line")};
  ASSERT_EQ(holder.read_line(), "started");
  child_process waiter{words{"sh", "-c", "trap '' HUP; exec \"$@\"", "sh"} +
                       script_under_lock("kill -HUP $$; echo mine", {"--wait", "forever"})};
  await_readiness_for(SIGINT, waiter.pid());
  waiter.send_signal(SIGHUP);
  holder.write_line("done");
  EXPECT_EQ(waiter.read_line(), "mine");
  EXPECT_EQ(waiter.wait(), 0);
}

TEST_P(CliRunSignalsTest, KillingUsEndsTheCommand) {
  child_process running{script_under_lock("echo started; exec cat")};
  ASSERT_EQ(running.read_line(), "started");
  running.send_signal(SIGKILL);
  EXPECT_EQ(running.read_rest(), "");  // ends when no process has the output open
}

ROWLOCK_ON_EVERY_DATABASE(CliRunSignalsTest);

class CliRunTerminalTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_rowlock({"migrate", url_}).code, 0); }

  [[nodiscard]] words script_under_lock(const std::string& script) const {
    return {ROWLOCK_COMMAND, "run", url_, "--type", "invoice", "--source", "42", "--", "sh", "-c",
            script};
  }

  const temp_folder folder_;
  const std::string url_ = "sqlite://" + (folder_.path() / "locks.db").string();
};

TEST_F(CliRunTerminalTest, ASignalOfTheTerminalReachesTheCommandOnce) {
  terminal screen{
      script_under_lock(script_with(R"(stty -echo; trap "echo int" INT; trap "echo term" TERM)"))};
  screen.read_until("started");
  screen.stop_command();
  screen.type("\x03");
  std::string shown = screen.read_until("int");
  // rowlock finds both, SIGINT first, and has to pass on the one that the terminal did not send.
  screen.send_signal(SIGTERM);
  screen.send_signal(SIGCONT);
  shown += screen.read_until("term");
  EXPECT_EQ(shown.find("int"), shown.rfind("int")) << shown;
}

TEST_F(CliRunTerminalTest, AHangupReachesTheCommand) {
  const std::string fifo = folder_.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  child_process reader{{"cat", fifo}};
  // It does not read, as a read of the terminal ends before the signal comes.
  terminal screen{script_under_lock(
      "exec 4>" + fifo + R"(; sleep 60 & trap "echo hup >&4; kill $!" HUP; echo started; wait)")};
  screen.read_until("started");
  screen.hang_up();
  EXPECT_EQ(reader.read_line(), "hup");
}

TEST_F(CliRunTerminalTest, TheCommandHasTheSignalMaskItWouldHaveWithoutUs) {
  const auto mask = run(script_under_lock("grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  EXPECT_EQ(mask.output, run({"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"}).output);
}

}  // namespace

}  // namespace rowlock::tests
