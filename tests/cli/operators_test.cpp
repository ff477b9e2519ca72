// rowlock release and rowlock purge: they ask before they do something.
#include "rowlock/operators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/terminal.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class CliOperatorsTest : public LockedCliTest {
 protected:
  [[nodiscard]] words release(const words& options = {}) const {
    return rowlock("release", words{"--type", "invoice", "--source", "42", "--force", "--reason",
                                    "web1 is gone"} +
                                  options);
  }
  [[nodiscard]] words purge(const words& options = {}) const {
    return rowlock("purge", words{"--older-than", "30d"} + options);
  }
  [[nodiscard]] row_state row() const { return show(*rows_, key_).value(); }
  /// A row that no holder has touched for years.
  void leave_idle() {
    locks_.try_acquire(key_)->release();
    execute("update shared_lock set version = 1");
  }
  [[nodiscard]] long long row_count() const { return number("select count(*) from shared_lock"); }

  const lock_key key_{"invoice", "42"};
  const std::unique_ptr<store> rows_ = open();
  lock_table locks_{*rows_, {.ttl = 1h, .holder = "worker-a"}};
};

TEST_P(CliOperatorsTest, ReleaseTakesTheKeyAndKeepsWhyAndWho) {
  const auto held = locks_.try_acquire(key_);
  const auto released = run(release({"--yes", "--by", "ann"}));
  EXPECT_EQ(released.code, 0) << released.errors;
  EXPECT_THAT(released.output,
              ContainsRegex("released invoice/42, which was held by worker-a, .+s left .granted "));
  EXPECT_FALSE(row().owned);
  EXPECT_GT(row().version, held->token());
  EXPECT_EQ(row().force_reason, "web1 is gone (by ann)");
}

TEST_P(CliOperatorsTest, ReleaseSaysWhoDidItIfNobodyIsNamed) {
  const auto held = locks_.try_acquire(key_);
  ASSERT_EQ(run(release({"--yes"})).code, 0);
  EXPECT_THAT(row().force_reason, testing::MatchesRegex("web1 is gone \\(by .+:[0-9]+\\)"));
}

TEST_P(CliOperatorsTest, ReleaseOfAVersionThatHasMovedShowsWhoHasTheKeyNow) {
  const auto before = locks_.try_acquire(key_)->token();
  const auto held = locks_.try_acquire(key_);
  const auto refused = run(release({"--yes", "--version", std::to_string(before.number)}));
  EXPECT_EQ(refused.code, 75);
  EXPECT_THAT(refused.errors,
              ContainsRegex("was not released: it is held by worker-a, .+s left .granted "));
  EXPECT_TRUE(row().owned);
  const auto now = std::to_string(held->token().number);
  EXPECT_EQ(run(release({"--yes", "--version", now})).code, 0);
}

TEST_P(CliOperatorsTest, ReleaseOfWhatNobodyHasIsRefused) {
  EXPECT_EQ(run(release({"--yes"})).code, 66);
  locks_.try_acquire(key_)->release();
  const auto refused = run(release({"--yes"}));
  EXPECT_EQ(refused.code, 75);
  EXPECT_THAT(refused.errors, HasSubstr("was not released: it is free"));
}

TEST_P(CliOperatorsTest, ReleaseOpensAKeyThatStaysClosed) {
  ASSERT_TRUE(locks_.with_lock(key_, [] {}, {.hold_at_least = 1h}).kept());
  EXPECT_EQ(run(release({"--yes"})).code, 0);
  EXPECT_TRUE(locks_.try_acquire(key_).acquired());
}

TEST_P(CliOperatorsTest, WithoutATerminalYesIsNeeded) {
  leave_idle();
  const auto held = locks_.try_acquire({"invoice", "43"});
  for (const auto& command : {release(), purge()}) {
    const auto refused = run(command);
    EXPECT_EQ(refused.code, 64);
    EXPECT_THAT(refused.errors, HasSubstr("no terminal to ask on: add --yes"));
  }
  EXPECT_EQ(row_count(), 2);
  EXPECT_EQ(number("select count(owner) from shared_lock"), 1);
}

TEST_P(CliOperatorsTest, OnATerminalReleaseAsksAndTakesTheVersionThatItShowed) {
  const auto held = locks_.try_acquire(key_);
  {
    terminal screen{release()};
    EXPECT_THAT(screen.read_until("[y/N]"),
                ContainsRegex("invoice/42 is held by worker-a, .+s left .granted "));
    screen.type("\n");
    screen.read_until("was not released");
  }
  EXPECT_EQ(row().version, held->token());
  {
    terminal screen{release()};
    screen.read_until("[y/N]");
    screen.type("y\n");
    screen.read_until("released invoice/42");
  }
  EXPECT_FALSE(row().owned);
}

TEST_P(CliOperatorsTest, OnATerminalYesMayBeInCapitals) {
  for (const auto* yes : {"Y", "YES", "Yes"}) {
    leave_idle();
    terminal screen{purge()};
    screen.read_until("[y/N]");
    screen.type(std::string{yes} + '\n');
    screen.read_until("purged 1 row");
  }
}

TEST_P(CliOperatorsTest, OnATerminalReleaseOfAnotherVersionDoesNotEvenAsk) {
  const auto held = locks_.try_acquire(key_);
  terminal screen{release({"--version", "1"})};
  EXPECT_THAT(screen.read_until("was not released"), Not(HasSubstr("[y/N]")));
}

TEST_P(CliOperatorsTest, OnATerminalReleaseLeavesAKeyThatChangedHandsBeforeTheAnswer) {
  std::optional<lease> held = *locks_.try_acquire(key_);
  terminal screen{release()};
  screen.read_until("[y/N]");
  held.reset();
  held = *locks_.try_acquire(key_);
  screen.type("y\n");
  screen.read_until("was not released: it is held by worker-a");
  EXPECT_EQ(row().version, held->token());
}

TEST_P(CliOperatorsTest, PurgeDeletesIdleRowsAndCountsThem) {
  leave_idle();
  const auto held = locks_.try_acquire({"invoice", "43"});
  const auto purged = run(purge({"--yes"}));
  EXPECT_EQ(purged.code, 0) << purged.errors;
  EXPECT_EQ(purged.output, "purged 1 row\n");
  EXPECT_EQ(row_count(), 1);
  EXPECT_EQ(run(purge({"--yes"})).output, "purged 0 rows\n");
}

TEST_P(CliOperatorsTest, OnATerminalPurgeAsks) {
  leave_idle();
  {
    terminal screen{purge()};
    screen.read_until("[y/N]");
    screen.type("n\n");
    screen.read_until("nothing was purged");
  }
  EXPECT_EQ(row_count(), 1);
  terminal screen{purge()};
  EXPECT_THAT(screen.read_until("[y/N]"), HasSubstr("were not used for 30d"));
  screen.type("yes\n");
  screen.read_until("purged 1 row");
  EXPECT_EQ(row_count(), 0);
}

ROWLOCK_ON_EVERY_DATABASE(CliOperatorsTest);

using CliRefusedPurgeTest = CliOperatorsTest;

TEST_P(CliRefusedPurgeTest, NamesTheRowsThatOthersReferTo) {
  locks_.try_acquire({"invoice", "43"})->release();
  leave_idle();
  execute(
      "create table shared_lock_report (lock_type text collate \"C\", source_id text collate "
      "\"C\", "
      "foreign key (lock_type, source_id) references shared_lock)");
  execute("insert into shared_lock_report values ('invoice', '43')");
  const auto purged = run(purge({"--yes"}));
  EXPECT_EQ(purged.code, 0);
  EXPECT_EQ(purged.output, "purged 1 row\n");
  EXPECT_THAT(purged.errors, HasSubstr("refused to delete 1 row, because a foreign key of another "
                                       "table refers to it, or by a trigger: invoice/43\n"));
}

INSTANTIATE_TEST_SUITE_P(On, CliRefusedPurgeTest,
                         testing::Values(cli_database_kind{"Postgres", make_postgres_database}),
                         [](const auto& kind) { return std::string{kind.param.name}; });

}  // namespace

}  // namespace rowlock::tests
