// Requests to a holder to yield.
#include <optional>
#include <string>

#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::tests {
namespace {

class Ask : public store_test {
 protected:
  change_answer ask(version seen, const std::string& reason = "deploy") {
    return rows_->ask({.key = key_, .version = seen, .by = "ops", .reason = reason});
  }
};

TEST_P(Ask, IsInTheRowUntilTheKeyIsGrantedAgain) {
  const auto seen = granted(key_, mine_);
  EXPECT_FALSE(row(key_).asked);
  EXPECT_EQ(ask(seen, "déploiement"), change_answer::done);
  const auto asked = row(key_).asked.value();
  EXPECT_EQ(asked.by, "ops");
  EXPECT_EQ(asked.reason, "déploiement");
  EXPECT_GE(asked.at, row(key_).acquired_at);
  EXPECT_EQ(renew(key_, mine_, seen), change_answer::done);
  EXPECT_TRUE(row(key_).asked);
  EXPECT_EQ(release(key_, mine_, seen), change_answer::done);
  EXPECT_FALSE(row(key_).asked);
  granted(key_, theirs_);
  EXPECT_FALSE(row(key_).asked);
}

TEST_P(Ask, TakesNothingAway) {
  const auto seen = granted(key_, mine_);
  const auto before = described(row(key_));
  EXPECT_EQ(ask(seen), change_answer::done);
  EXPECT_EQ(described(row(key_)), before);
  EXPECT_EQ(acquire(key_, theirs_).status, acquire_status::held);
}

TEST_P(Ask, TheLastOneCounts) {
  const auto seen = granted(key_, mine_);
  EXPECT_EQ(ask(seen, "first"), change_answer::done);
  EXPECT_EQ(ask(seen, "second"), change_answer::done);
  EXPECT_EQ(row(key_).asked->reason, "second");
}

TEST_P(Ask, OfNoHolderIsLost) {
  EXPECT_EQ(ask({1}), change_answer::lost);
  EXPECT_EQ(ask(unowned(key_)), change_answer::lost);
  const auto seen = granted(key_, mine_);
  EXPECT_EQ(ask({seen.number - 1}), change_answer::lost);
  EXPECT_FALSE(row(key_).asked);
}

TEST_P(Ask, ReachesTheHolder) {
  lock_table ours{*rows_, {.ttl = 6s, .holder = "ours"}};
  lock_table theirs{*rows_, {.ttl = 1h, .holder = "theirs"}};
  const lease held = *ours.try_acquire(key_);
  const auto wanted = held.wanted();
  EXPECT_EQ(theirs.ask(key_, "deploy"), ask_result::asked);
  await_that([&] { return wanted.stop_requested(); });
  EXPECT_EQ(held.asked()->by, "theirs");
  EXPECT_EQ(held.asked()->reason, "deploy");
  EXPECT_TRUE(held.is_valid());
}

TEST_P(Ask, ForAFreeKeySaysSo) {
  EXPECT_EQ(rowlock::ask(*rows_, key_, "deploy"), ask_result::free);
  run_out(key_, mine_);
  EXPECT_EQ(rowlock::ask(*rows_, key_, "deploy"), ask_result::free);
}

TEST_P(Ask, IsListed) {
  ask(granted(key_, mine_));
  EXPECT_EQ(rows_->list().at(0).asked->reason, "deploy");
}

INSTANTIATE_TEST_SUITE_P(Stores, Ask, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
