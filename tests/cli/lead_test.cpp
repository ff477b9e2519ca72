// rowlock lead: a command runs in one place of many, while that place leads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>

#include "cli/cli_test.hpp"
#include "rowlock/operators.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// A service that says its term, and goes on until a signal that it has a trap for.
std::string service(const std::string& traps = R"(trap "echo signalled; exit 0" TERM)") {
  return script_with(traps + "; echo $ROWLOCK_TOKEN");
}

class CliLeadTest : public LockedCliTest {
 protected:
  [[nodiscard]] words lead(const std::string& script, const words& options = {}) const {
    return rowlock("lead", words{"--type", "invoice", "--source", "42"} + options +
                               words{"--", "sh", "-c", script});
  }
  /// Of the service that it runs next.
  static long long term_of(child_process& leading) {
    const auto term = std::stoll(leading.read_line().value_or("0"));
    EXPECT_EQ(leading.read_line(), "started");
    return term;
  }
  void take_away() const {
    const auto rows = open();
    const lock_key key{"invoice", "42"};
    EXPECT_EQ(force_release(*rows, key, show(*rows, key)->version, "a test").answer,
              force_answer::released);
  }
};

/// As --help says.
TEST_P(CliLeadTest, TheCommandOfOneThatIsStoppedAloneGoesOnBesideTheNextLeaders) {
  const std::string script =
      "echo $ROWLOCK_TOKEN; echo started; while read line; do echo $line; done";
  child_process first{lead(script)};
  const auto term = term_of(first);
  first.send_signal(SIGSTOP);
  take_away();
  child_process second{lead(script)};
  EXPECT_GT(term_of(second), term);
  first.write_line("works");
  EXPECT_EQ(first.read_line(), "works");
  for (auto* each : {&first, &second}) each->send_signal(SIGKILL);
  EXPECT_THAT(run_rowlock({"lead", "--help"}).output, HasSubstr("this program alone is stopped"));
}

TEST_P(CliLeadTest, OneLeadsAndTheNextFollowsWithAGreaterTerm) {
  child_process first{lead(service())};
  const auto term = term_of(first);
  child_process second{lead(service())};
  errors_with("rowlock: leads invoice/42, term " + std::to_string(term) + '\n', first);
  first.send_signal(SIGTERM);
  EXPECT_EQ(first.read_line(), "signalled");
  EXPECT_EQ(first.wait(), 0);
  EXPECT_GT(term_of(second), term);
  second.send_signal(SIGTERM);
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(list(), "no key is held\n");
  EXPECT_EQ(number("select failure_count from shared_lock"), 0);
}

TEST_P(CliLeadTest, ACommandThatEndedWellRunsAgain) {
  child_process leading{lead("echo $ROWLOCK_TOKEN; echo started")};
  const auto first = term_of(leading);
  const auto second = term_of(leading);
  EXPECT_GT(first, 0);
  EXPECT_GT(second, first);
  EXPECT_GT(term_of(leading), second);
}

TEST_P(CliLeadTest, ACommandThatFailsEndsItAndIsCounted) {
  EXPECT_EQ(run(lead("exit 3")).code, 3);
  EXPECT_EQ(number("select failure_count from shared_lock"), 1);
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliLeadTest, ALossEndsTheCommandAndItCampaignsAgain) {
  child_process leading{lead(service(), {"--ttl", "3s", "--grace", "1h"})};
  const auto term = term_of(leading);
  take_away();
  EXPECT_EQ(leading.read_line(), "signalled");
  errors_with("rowlock: lost invoice/42", leading);
  EXPECT_GT(term_of(leading), term);
}

TEST_P(CliLeadTest, ACommandThatFailsBecauseItWasLostDoesNotEndIt) {
  child_process leading{lead(service(R"(trap "exit 3" TERM)"), {"--ttl", "3s"})};
  const auto term = term_of(leading);
  take_away();
  EXPECT_GT(term_of(leading), term);
}

TEST_P(CliLeadTest, ALossThatIsFoundAtTheLastReleaseCountsToo) {
  child_process leading{lead(service(), {"--ttl", "1h"})};
  term_of(leading);
  take_away();
  leading.send_signal(SIGTERM);
  EXPECT_EQ(leading.wait(), 76);
  EXPECT_THAT(leading.errors(), HasSubstr("rowlock: invoice/42 was lost before the command ended"));
}

TEST_P(CliLeadTest, ALossThatIsFoundAfterACommandFailedCountsToo) {
  child_process leading{lead(service(R"(trap "exit 3" HUP)"), {"--ttl", "1h"})};
  term_of(leading);
  take_away();
  leading.send_signal(SIGHUP);
  EXPECT_EQ(leading.wait(), 76);
  EXPECT_THAT(leading.errors(), HasSubstr("rowlock: invoice/42 was lost before the command ended"));
}

TEST_P(CliLeadTest, ALossThatIsFoundBetweenTwoTermsIsSaidAndIsNoExitCode) {
  child_process leading{lead(service(R"(trap "exit 0" HUP TERM)"), {"--ttl", "1h"})};
  term_of(leading);
  take_away();
  leading.send_signal(SIGHUP);
  term_of(leading);
  leading.send_signal(SIGTERM);
  EXPECT_EQ(leading.wait(), 0);
  EXPECT_THAT(leading.errors(), HasSubstr("rowlock: invoice/42 was lost before the command ended"));
}

TEST_P(CliLeadTest, ALossInTheLastTermIsSaidOnceAndIsItsExitCode) {
  child_process leading{lead(service(R"(trap "echo signalled" TERM; trap "exit 0" INT)"),
                             {"--ttl", "3s", "--grace", "1h"})};
  term_of(leading);
  take_away();
  EXPECT_EQ(leading.read_line(), "signalled");
  leading.send_signal(SIGINT);
  EXPECT_EQ(leading.wait(), 76);
  EXPECT_THAT(leading.errors(), HasSubstr("rowlock: lost invoice/42"));
  EXPECT_THAT(leading.errors(), Not(HasSubstr("lost before the command ended")));
}

TEST_P(CliLeadTest, ASignalEndsTheCampaign) {
  child_process leading{lead(service())};
  term_of(leading);
  child_process waiting{lead("echo leads")};
  await_readiness_for(SIGTERM, waiting.pid());
  waiting.send_signal(SIGTERM);
  EXPECT_EQ(waiting.wait(), 128 + SIGTERM);
  EXPECT_EQ(waiting.read_rest(), "");
}

TEST_P(CliLeadTest, AHangupIsPassedOnAndDoesNotEndIt) {
  child_process leading{lead(service(R"(trap "echo signalled; exit 0" HUP)"))};
  const auto term = term_of(leading);
  leading.send_signal(SIGHUP);
  EXPECT_EQ(leading.read_line(), "signalled");
  EXPECT_GT(term_of(leading), term);
}

TEST_P(CliLeadTest, DoesNotSayOfALastReleaseThatItTriesAgain) {
  child_process leading{lead("echo started; read line; exit 3", {"--ttl", "1h"})};
  ASSERT_EQ(leading.read_line(), "started");
  execute("drop table shared_lock");
  leading.write_line("end");
  EXPECT_EQ(leading.wait(), 3);
  EXPECT_THAT(leading.errors(), HasSubstr("if no later try releases the key, it frees itself"));
  EXPECT_THAT(leading.errors(), Not(HasSubstr("trying again")));
}

TEST_P(CliLeadTest, DoesNotSayOfWhatEndsItsWaitThatItTriesAgain) {
  child_process leading{lead(service(), {"--ttl", "1h"})};
  term_of(leading);
  child_process waiting{lead("echo leads", {"--ttl", "1h"})};
  await_readiness_for(SIGTERM, waiting.pid());
  execute("drop table shared_lock");
  EXPECT_EQ(waiting.wait(), 69);
  EXPECT_THAT(waiting.errors(), MatchesRegex("rowlock: [^\n]*rowlock migrate[^\n]*\n"));
  EXPECT_THAT(waiting.errors(), Not(HasSubstr("trying again")));
}

ROWLOCK_ON_EVERY_DATABASE(CliLeadTest);

TEST(CliLeadUnavailableTest, DoesNotSayOfWhatEndsItThatItTriesAgain) {
  const temp_folder folder;
  const auto file = folder.path() / "empty.db";
  std::ofstream{file}.close();
  const auto refused = run_rowlock(
      {"lead", "sqlite://" + file.string(), "--type", "invoice", "--source", "42", "--", "true"});
  EXPECT_EQ(refused.code, 69);
  EXPECT_THAT(refused.errors, HasSubstr("rowlock migrate"));
  EXPECT_THAT(refused.errors, Not(HasSubstr("trying again")));
}

}  // namespace

}  // namespace rowlock::tests
