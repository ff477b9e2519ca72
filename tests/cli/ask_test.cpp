// rowlock release --ask, and what holders do when they are asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/cli_test.hpp"
#include "rowlock/lock_table.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class CliAskTest : public LockedCliTest {
 protected:
  [[nodiscard]] result ask(const std::string& type, const std::string& source) const {
    return run(rowlock("release", {"--type", type, "--source", source, "--ask", "--reason",
                                   "deploy of 7", "--by", "ann"}));
  }
  [[nodiscard]] result show() const {
    return run(rowlock("show", {"--type", "invoice", "--source", "42"}));
  }

  const std::unique_ptr<store> rows_ = open();
  lock_table locks_{*rows_, {.holder = "worker-a"}};
};

TEST_P(CliAskTest, IsShownAndListedAndTakesNothingAway) {
  const auto held = locks_.try_acquire({"invoice", "42"});
  const auto asked = ask("invoice", "42");
  EXPECT_EQ(asked.code, 0) << asked.errors;
  EXPECT_THAT(asked.output, HasSubstr("asked for invoice/42, which is held by worker-a"));
  EXPECT_THAT(show().output, ContainsRegex("asked      20.* UTC, by ann: deploy of 7\n"));
  EXPECT_THAT(list(), HasSubstr("[asked for]"));
  const auto json = nlohmann::json::parse(
      run(rowlock("show", {"--type", "invoice", "--source", "42", "--json"})).output);
  EXPECT_EQ(json.at("asked").at("by"), "ann");
  EXPECT_EQ(json.at("asked").at("reason"), "deploy of 7");
  EXPECT_TRUE(held->is_valid());
}

TEST_P(CliAskTest, ForAFreeKeySaysSo) {
  const auto free = ask("invoice", "42");
  EXPECT_EQ(free.code, 75);
  EXPECT_THAT(free.errors, HasSubstr("invoice/42 has no holder to ask: it is free"));
}

TEST_P(CliAskTest, EndsATermAndTheCommandGetsSigterm) {
  child_process leading{
      rowlock("lead", {"--type", "service", "--source", "1", "--ttl", "3s", "--", "sleep", "600"})};
  errors_with("leads service/1", leading);
  EXPECT_EQ(ask("service", "1").code, 0);
  const std::string asked = "ann asks for service/1: deploy of 7; sent the command SIGTERM";
  errors_with(asked, leading);
  await_that([&] {
    const auto errors = leading.errors();
    return errors.find("leads service/1", errors.find(asked)) != std::string::npos;
  });
  leading.send_signal(SIGTERM);
  EXPECT_EQ(result_of(leading).code, 128 + SIGTERM);
}

TEST_P(CliAskTest, SendsACommandTheSignalThatItWants) {
  child_process running{
      script_under_lock("trap 'kill $!; exit 0' USR1; sleep 600 & echo ready >&2; wait",
                        {"--on-ask", "USR1", "--ttl", "3s"})};
  errors_with("ready", running);
  EXPECT_EQ(ask("invoice", "42").code, 0);
  const auto ended = result_of(running);
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.errors,
              HasSubstr("ann asks for invoice/42: deploy of 7; sent the command SIGUSR1"));
}

TEST_P(CliAskTest, BadInputIsWrongUsage) {
  const words release{"--type", "invoice", "--source", "42", "--ask"};
  EXPECT_EQ(run(rowlock("release", release)).code, 64);
  EXPECT_EQ(run(rowlock("release", release + words{"--reason", ""})).code, 64);
  EXPECT_EQ(run(rowlock("release", release + words{"--reason", "why", "--force"})).code, 64);
  EXPECT_EQ(run(rowlock("release", release + words{"--reason", "why", "--version", "1"})).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--on-ask", "KILL"})).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--on-ask", "9"})).code, 64);
}

ROWLOCK_ON_EVERY_DATABASE(CliAskTest);

}  // namespace
}  // namespace rowlock::tests
