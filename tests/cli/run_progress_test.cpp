// rowlock run and lead: a command that does not get on loses its key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/cli_test.hpp"

namespace rowlock::tests {

namespace {

using testing::AnyOf;
using testing::HasSubstr;

const words at_once{"--progress-within", "1ms", "--ttl", "1s"};

class CliProgressTest : public LockedCliTest {};

TEST_P(CliProgressTest, ASilentCommandLosesItsKeyAndIsEnded) {
  const auto lost = run(script_under_lock("exec sleep 600", at_once));
  EXPECT_EQ(lost.code, 76);
  EXPECT_THAT(lost.errors, HasSubstr("invoice/42 was lost: the command showed no progress"));
}

TEST_P(CliProgressTest, SoDoesOneThatOnlyWritesWhereAFileCounts) {
  const auto lost = run(script_under_lock("head -c 1000 /dev/zero; exec sleep 600",
                                          at_once + words{"--progress-file", "/nonexistent"}));
  EXPECT_EQ(lost.code, 76);
  EXPECT_EQ(lost.output.size(), 1000U);
}

TEST_P(CliProgressTest, OutputAndExitCodeAreTheCommands) {
  const auto done = run(script_under_lock("head -c 1000000 /dev/zero; echo problem >&2; exit 3",
                                          {"--progress-within", "1h"}));
  EXPECT_EQ(done.code, 3);
  EXPECT_EQ(done.output.size(), 1'000'000U);
  EXPECT_EQ(done.errors, "problem\n");
}

TEST_P(CliProgressTest, WhatTheCommandLeavesBehindDoesNotKeepUs) {
  const auto done = run(script_under_lock("sleep 600 & echo $!", {"--progress-within", "1h"}));
  EXPECT_EQ(done.code, 0);
  run({"kill", done.output.substr(0, done.output.find('\n'))});
}

TEST_P(CliProgressTest, ALeaderThatIsSilentSaysWhyItLost) {
  child_process leading{rowlock(
      "lead", words{"--type", "service", "--source", "1"} + at_once + words{"--", "sleep", "600"})};
  errors_with("service/1 was lost: the command showed no progress", leading);
  leading.send_signal(SIGTERM);
  // The signal may come before the lost term has ended, or in a later one.
  EXPECT_THAT(result_of(leading).code, AnyOf(76, 128 + SIGTERM));
}

TEST_P(CliProgressTest, BadInputIsWrongUsage) {
  EXPECT_EQ(run(script_under_lock("true", {"--progress-within", "soon"})).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--progress-within", "0s"})).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--progress-file", "x"})).code, 64);
}

ROWLOCK_ON_EVERY_DATABASE(CliProgressTest);

}  // namespace
}  // namespace rowlock::tests
