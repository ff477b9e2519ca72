// A machine that starts no process or no thread for us is unavailable, and nothing has run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "cli/cli_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;

class CliRefusedProcessTest : public LockedCliTest {
 protected:
  /// Of `run` and `lead` where the system refuses `what`.
  void expect_unavailable(const std::string& what, const std::string& message) const {
    for (const auto* subcommand : {"run", "lead"}) {
      const auto without =
          run(words{ROWLOCK_REFUSING, what} +
              rowlock(subcommand, {"--type", "invoice", "--source", "42", "--", "echo", "ran"}));
      EXPECT_EQ(without.code, 69) << without.errors;
      EXPECT_THAT(without.errors, HasSubstr(message));
      EXPECT_EQ(without.output, "");
    }
  }
};

TEST_P(CliRefusedProcessTest, ACommandForWhichThereIsNoProcessIsUnavailable) {
  expect_unavailable("forks", "echo: the system starts no process for it");
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliRefusedProcessTest, AThreadThatCannotBeStartedIsUnavailable) {
  expect_unavailable("threads", "the system lets us start no thread");
}

TEST_P(CliRefusedProcessTest, AFileDescriptorThatIsRefusedIsUnavailable) {
  expect_unavailable("signalfds", "raise its limit of open files");
}

ROWLOCK_ON_EVERY_DATABASE(CliRefusedProcessTest);

TEST(CliNotStartedTest, AScriptWhoseInterpreterIsMissingOrCannotBeRunIs126) {
  const temp_folder folder;
  const std::string url = "sqlite://" + (folder.path() / "locks.db").string();
  ASSERT_EQ(run_rowlock({"migrate", url}).code, 0);
  const std::string script = folder.path() / "script";
  for (const auto& interpreter : {folder.path() / "missing", folder.path() / "locks.db"}) {
    std::ofstream{script} << "#!" << interpreter.string() << '\n';
    ASSERT_EQ(chmod(script.c_str(), 0700), 0);
    const auto refused =
        run_rowlock({"run", url, "--type", "invoice", "--source", "42", "--", script});
    EXPECT_EQ(refused.code, 126);
    EXPECT_THAT(refused.errors, HasSubstr(script + ": cannot be run: "));
    EXPECT_THAT(refused.errors, HasSubstr("the program that its first line names"));
  }
}

}  // namespace

}  // namespace rowlock::tests
