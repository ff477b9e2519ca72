// rowlock watch: a line for each change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/operators.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class CliWatchTest : public LockedCliTest {
 protected:
  /// The lines up to the first that has this text.
  static std::vector<std::string> lines_until(const std::string& text, child_process& watching) {
    std::vector<std::string> lines;
    await_that([&] {
      lines.push_back(watching.read_line().value());
      return lines.back().find(text) != std::string::npos;
    });
    return lines;
  }

  const lock_key key_{"invoice", "42"};
  const std::unique_ptr<store> rows_ = open();
  lock_table locks_{*rows_, {.ttl = 1h, .holder = "worker-a"}};
};

TEST_P(CliWatchTest, OfOneKeyHasThePresentStateAndEachChange) {
  child_process watching{rowlock("watch", {"--type", "invoice", "--source", "42"})};
  EXPECT_THAT(watching.read_line().value(),
              MatchesRegex("20..-..-..T..:..:..\\.[0-9]{6}Z invoice/42 free, version 0"));
  auto held = locks_.try_acquire(key_);
  ASSERT_EQ(held->write_note("step 1"), note_result::written);
  const auto version = std::to_string(held->token().number);
  lines_until("invoice/42 held by worker-a, version " + version + ", note: step 1", watching);
  ask(*rows_, key_, "deploy", "ann");
  lines_until(", asked for by ann: deploy, note: step 1", watching);
  held->release();
  EXPECT_THAT(watching.read_line().value(), HasSubstr("invoice/42 free, version 1"));
  watching.send_signal(SIGTERM);
  EXPECT_EQ(watching.wait(), 128 + SIGTERM);
}

TEST_P(CliWatchTest, OfAllKeysHasThoseThatComeAndGo) {
  auto before = locks_.try_acquire({"job", "a"});
  child_process watching{rowlock("watch", {"--json"})};
  lines_until("\"source\":\"a\"", watching);
  auto held = locks_.try_acquire(key_);
  EXPECT_THAT(watching.read_line().value(), HasSubstr("\"source\":\"42\""));
  before->release();
  const auto last = nlohmann::json::parse(watching.read_line().value());
  EXPECT_EQ(last.at("state"), "free");
  EXPECT_EQ(last.at("source"), "a");
  EXPECT_THAT(last.at("at").get<std::string>(), MatchesRegex("20..-..-..T.*Z"));
}

TEST_P(CliWatchTest, OfATypeLeavesOthersOut) {
  auto other = locks_.try_acquire({"job", "a"});
  child_process watching{rowlock("watch", {"--type", "invoice"})};
  auto held = locks_.try_acquire(key_);
  EXPECT_THAT(watching.read_line().value(), HasSubstr("invoice/42 held by worker-a"));
}

TEST_P(CliWatchTest, BadInputIsWrongUsage) {
  EXPECT_EQ(run(rowlock("watch", {"--source", "42"})).code, 64);
  EXPECT_EQ(run(rowlock("watch", {"--type", "a b"})).code, 64);
  EXPECT_EQ(run(rowlock("watch", {"--type", "a b", "--source", "1"})).code, 64);
}

ROWLOCK_ON_EVERY_DATABASE(CliWatchTest);

TEST(CliWatchUsageTest, WithoutADatabaseItEnds) {
  const auto ended = run_rowlock({"watch", "sqlite:///nonexistent/locks.db"});
  EXPECT_EQ(ended.code, 69);
}

}  // namespace
}  // namespace rowlock::tests
