// Several keys under one possession.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_table.hpp"
#include "support/hooked_store.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class LeaseSet : public testing::Test {
 protected:
  [[nodiscard]] bool is_owned(const lock_key& key) {
    const auto state = rows_.rows().read({&key, 1}).front();
    return state && state->owned;
  }

  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table locks_{rows_, {.ttl = 30s, .time = time_}};
  const lock_key a_{"job", "a"};
  const lock_key b_{"job", "b"};
  const lock_key c_{"job", "c"};
};

TEST_F(LeaseSet, HoldsAllKeysInTheOrderOfTheirBytes) {
  auto held = *locks_.try_acquire_all({c_, a_, b_});
  ASSERT_EQ(held.size(), 3U);
  EXPECT_EQ(held.leases()[0].key(), a_);
  EXPECT_EQ(held.leases()[2].key(), c_);
  EXPECT_EQ(held.find(b_), &held.leases()[1]);
  EXPECT_EQ(held.find({"job", "d"}), nullptr);
  EXPECT_TRUE(held.is_valid());
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_EQ(held.remaining(), held.leases()[0].remaining());
}

TEST_F(LeaseSet, CountsAKeyThatIsNamedTwiceOnce) {
  EXPECT_EQ((*locks_.try_acquire_all({a_, b_, a_})).size(), 2U);
}

TEST_F(LeaseSet, OfNoKeyIsHadWithoutAStatement) {
  rows_.before("acquire_all", [] { FAIL() << "a statement"; });
  auto held = locks_.try_acquire_all({});
  ASSERT_TRUE(held.acquired());
  EXPECT_TRUE(held->empty());
  EXPECT_TRUE(held->is_valid());
  EXPECT_EQ(held->release(), release_result::released);
}

TEST_F(LeaseSet, OfTooManyKeysIsMisuse) {
  std::vector<lock_key> many;
  for (int i = 0; i < 1001; ++i) many.push_back({"job", std::to_string(i)});
  EXPECT_THROW((void)locks_.try_acquire_all(many), error);
  EXPECT_THROW((void)locks_.try_acquire_any(many, 1), error);
  EXPECT_THROW((void)locks_.try_acquire_any({a_}, 0), error);
  EXPECT_THROW((void)locks_.try_acquire_all({a_}, {.expected = version{1}}), error);
}

TEST_F(LeaseSet, IsRefusedWithTheKeyThatStoodInTheWay) {
  const auto other = locks_.try_acquire(b_);
  const auto refused = locks_.try_acquire_all({a_, b_, c_});
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().key, b_);
  EXPECT_FALSE(is_owned(a_));
}

TEST_F(LeaseSet, IsReleasedInOneCall) {
  auto held = *locks_.try_acquire_all({a_, b_, c_});
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(rows_.batches("release"), (std::vector<std::size_t>{3}));
  for (const auto& key : {a_, b_, c_}) EXPECT_FALSE(is_owned(key));
  EXPECT_EQ(held.release(), release_result::lost);
}

TEST_F(LeaseSet, IsReleasedAtItsEnd) {
  { const auto held = locks_.try_acquire_all({a_, b_}); }
  EXPECT_EQ(rows_.batches("release"), (std::vector<std::size_t>{2}));
  EXPECT_FALSE(is_owned(a_));
}

TEST_F(LeaseSet, LetsOneKeyGoBeforeTheOthers) {
  auto held = *locks_.try_acquire_all({a_, b_, c_});
  EXPECT_EQ(held.release(b_), release_result::released);
  EXPECT_EQ(held.release(b_), release_result::lost);
  EXPECT_FALSE(is_owned(b_));
  EXPECT_EQ(held.size(), 2U);
  EXPECT_TRUE(held.is_valid());
  EXPECT_TRUE(is_owned(a_));
}

TEST_F(LeaseSet, IsLostWhenOneOfItIs) {
  auto held = *locks_.try_acquire_all({a_, b_});
  rows_.rows().force_release({.key = b_, .version = held.find(b_)->token(), .reason = "a test"});
  time_->advance(10s);
  rows_.await("renew", 1);
  EXPECT_TRUE(comes([&] { return held.lost().stop_requested(); }));
  EXPECT_FALSE(held.is_valid());
  EXPECT_EQ(held.remaining(), 0ns);
  EXPECT_TRUE(held.find(a_)->is_valid());
  EXPECT_EQ(held.release(), release_result::lost);
  EXPECT_FALSE(is_owned(a_));
}

TEST_F(LeaseSet, IsRenewedInOneCall) {
  const auto held = *locks_.try_acquire_all({a_, b_, c_});
  time_->advance(10s);
  rows_.await("renew", 1);
  EXPECT_EQ(rows_.batches("renew").front(), 3U);
}

TEST_F(LeaseSet, OfAnyKeysHasTheFirstThatAreFree) {
  const auto other = locks_.try_acquire(a_);
  const auto held = locks_.try_acquire_any({c_, a_, b_}, 1);
  ASSERT_TRUE(held.acquired());
  ASSERT_EQ(held->size(), 1U);
  EXPECT_EQ(held->leases()[0].key(), c_);
  EXPECT_FALSE(locks_.try_acquire_any({a_, c_}, 2).acquired());
}

TEST_F(LeaseSet, WaitsUntilAllAreFree) {
  auto other = *locks_.try_acquire(b_);
  std::jthread releasing{[&] {
    rows_.await("acquire_all", 2);
    other.release();
  }};
  auto all = std::async(std::launch::async, [&] {
    return locks_.try_acquire_all({a_, b_}, {.wait = wait_for(1h)}).acquired();
  });
  await_answer(all, [this] { time_->advance(20ms); });
  EXPECT_TRUE(all.get());
}

TEST_F(LeaseSet, IsAskedForOnceMoreWhenTheAnswerGotLost) {
  bool is_first = true;
  rows_.after("acquire_all", [&] {
    if (std::exchange(is_first, false)) throw error{errc::outcome_unknown, "gone: ask again"};
  });
  const auto held = locks_.try_acquire_all({a_, b_});
  ASSERT_TRUE(held.acquired());
  EXPECT_EQ(held->size(), 2U);
}

TEST_F(LeaseSet, ThatCameTooLateIsGivenBack) {
  rows_.after("acquire_all", [&] { time_->advance(31s); });
  EXPECT_THROW((void)locks_.try_acquire_all({a_, b_}), error);
}

TEST_F(LeaseSet, HoldsDuringACallback) {
  const auto done = locks_.with_lock_all({a_, b_}, [&](const lease_set& held) {
    EXPECT_EQ(held.size(), 2U);
    return is_owned(a_) && is_owned(b_);
  });
  EXPECT_TRUE(*done);
  EXPECT_TRUE(done.kept());
  EXPECT_FALSE(is_owned(a_));
  EXPECT_THROW((void)locks_.with_lock_all({a_, b_}, [] { throw std::runtime_error{"failed"}; }),
               std::runtime_error);
  EXPECT_EQ(rows_.rows().read({&a_, 1}).front()->failure_count, 1);
  EXPECT_FALSE(is_owned(b_));
}

}  // namespace
}  // namespace rowlock::tests
