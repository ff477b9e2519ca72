// Keys within a scope.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

class Scope : public lease_state_test {
 protected:
  const lock_key key_{"job", "a"};
};

TEST_F(Scope, KeepsItsKeysApartFromThoseOfOthersAndOfNone) {
  auto east = locks_->within("east");
  auto west = locks_->within("west");
  const auto everywhere = locks_->try_acquire(key_);
  const auto in_east = east.try_acquire(key_);
  const auto in_west = west.try_acquire(key_);
  ASSERT_TRUE(everywhere.acquired() && in_east.acquired() && in_west.acquired());
  EXPECT_EQ(everywhere->key(), key_);
  EXPECT_EQ(in_east->key(), scoped("east", key_));
  EXPECT_EQ(in_west->key(), (lock_key{"west/job", "a"}));
  const auto again = locks_->within("east").try_acquire(key_);
  ASSERT_FALSE(again.acquired());
  EXPECT_EQ(again.refusal().key, scoped("east", key_));
  EXPECT_FALSE(locks_->try_acquire(scoped("west", key_)).acquired());
}

TEST_F(Scope, GivesDifferentKeysToDifferentPairs) {
  std::set<lock_key> keys;
  std::size_t pairs = 0;
  for (const auto* scope : {"a", "b", "a.b", "a:b", "ab"}) {
    for (const auto* type : {"a", "b", "a.b", "b#1", "b#11"}) {
      for (const auto* source_id : {"a", "b", "a/b", "/b"}) {
        keys.insert(scoped(scope, {type, source_id}));
        ++pairs;
      }
    }
  }
  EXPECT_EQ(keys.size(), pairs);
}

TEST_F(Scope, WithinAScopeIsMisuse) {
  auto east = locks_->within("east");
  const auto scoped_already = scoped("east", key_);
  EXPECT_TRUE(is_misuse([&] { (void)east.within("north"); }));
  EXPECT_TRUE(is_misuse([&] { (void)scoped("north", scoped_already); }));
  EXPECT_TRUE(is_misuse([&] { (void)east.try_acquire(scoped_already); }));
  EXPECT_TRUE(is_misuse([&] { (void)east.with_lock(scoped_already, [] {}); }));
  EXPECT_TRUE(is_misuse([&] { (void)east.with_lock_once(scoped_already, [] {}); }));
  EXPECT_TRUE(is_misuse([&] { (void)east.read(scoped_already); }));
  EXPECT_TRUE(rows_.rows().list().empty());
}

TEST_F(Scope, ThatIsNoWordIsMisuse) {
  for (const auto& scope : {std::string{}, std::string{"a/b"}, std::string{"a b"},
                            std::string{"a#1"}, std::string(65, 's')}) {
    EXPECT_TRUE(is_misuse([&] { (void)locks_->within(scope); })) << scope;
    EXPECT_TRUE(is_misuse([&] { (void)scoped(scope, key_); })) << scope;
  }
  EXPECT_TRUE(locks_->within(std::string(64, 's')).try_acquire(key_).acquired());
}

TEST_F(Scope, IsReadAndDoneOnceByItself) {
  auto east = locks_->within("east");
  ASSERT_TRUE(east.with_lock_once(key_, [] {}).kept());
  EXPECT_FALSE(east.with_lock_once(key_, [] {}).acquired());
  EXPECT_TRUE(locks_->with_lock_once(key_, [] {}).acquired());
  const auto held = east.try_acquire(key_);
  EXPECT_EQ(east.read(key_).refusal().key, scoped("east", key_));
  EXPECT_TRUE(locks_->read(key_).acquired());
}

TEST_F(Scope, EndsNoLeaseWhenItsTableGoes) {
  std::optional<lease> held;
  {
    auto east = locks_->within("east");
    held = *east.try_acquire(key_);
  }
  EXPECT_TRUE(held->is_valid());
  EXPECT_EQ(held->release(), release_result::released);
}

TEST_F(Scope, EndsWithTheTableItIsPartOf) {
  auto east = locks_->within("east");
  const lease in_east = *east.try_acquire(key_);
  const lease outside = acquire("a");
  locks_.reset();
  for (const auto* held : {&in_east, &outside}) {
    EXPECT_FALSE(held->is_valid());
    EXPECT_TRUE(held->lost().stop_requested());
  }
  EXPECT_TRUE(rows_.rows().list().empty());
  EXPECT_EQ(east.try_acquire(key_).refusal().reason, refusal_reason::stopped);
}

}  // namespace
}  // namespace rowlock::tests
