// Sets of keys: any of them, but so many at most.
#include <algorithm>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

class AcquireAny : public store_test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 6; ++i) keys_.push_back({"job", std::to_string(i)});
  }

  std::vector<acquire_answer> acquire_any(const std::vector<lock_key>& keys, const owner_id& owner,
                                          std::size_t at_most) {
    std::vector<acquire_request> requests;
    for (const auto& key : keys) {
      requests.push_back({.key = key, .owner = owner, .holder = "host:1", .ttl = 1h});
    }
    return rows_->acquire(requests, {acquire_mode::any, at_most});
  }

  /// Which are granted, by their places.
  static std::vector<std::size_t> places(const std::vector<acquire_answer>& answers) {
    std::vector<std::size_t> granted;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].status == acquire_status::granted) {
        granted.push_back(i);
      } else {
        EXPECT_EQ(answers[i].status, acquire_status::withheld);
      }
    }
    return granted;
  }

  using taken = std::vector<std::size_t>;
  std::vector<lock_key> keys_;
};

TEST_P(AcquireAny, GrantsTheFirstThatAreFree) {
  for (const auto& key : keys_) touch(key);
  granted(keys_[0], theirs_);
  granted(keys_[2], theirs_);
  const auto answers = acquire_any(keys_, mine_, 3);
  EXPECT_EQ(places(answers), (taken{1, 3, 4}));
  for (const auto place : {1U, 3U, 4U}) {
    EXPECT_EQ(row(keys_[place]).version, answers[place].version);
    EXPECT_EQ(renew(keys_[place], mine_, answers[place].version.value()), change_answer::done);
  }
  EXPECT_FALSE(row(keys_[5]).owned);
}

TEST_P(AcquireAny, GrantsAllThatAreFreeWhereEnoughMayBe) {
  for (const auto& key : keys_) touch(key);
  granted(keys_[1], theirs_);
  EXPECT_EQ(places(acquire_any(keys_, mine_, 100)), (taken{0, 2, 3, 4, 5}));
}

TEST_P(AcquireAny, CreatesWhatIsMissingAndStillWanted) {
  touch(keys_[3]);
  granted(keys_[4], theirs_);
  const auto answers = acquire_any(keys_, mine_, 3);
  EXPECT_EQ(places(answers), (taken{0, 1, 3}));
  for (const auto place : {0U, 1U, 3U}) {
    EXPECT_EQ(release(keys_[place], mine_, answers[place].version.value()), change_answer::done);
  }
  EXPECT_FALSE(read(keys_[5]));
}

TEST_P(AcquireAny, GrantsNoneWhereAllAreHeld) {
  for (const auto& key : keys_) granted(key, theirs_);
  const auto before = described(row(keys_[0]));
  EXPECT_EQ(places(acquire_any(keys_, mine_, 3)), taken{});
  EXPECT_EQ(described(row(keys_[0])), before);
}

TEST_P(AcquireAny, TakesOverWhatHasRunOut) {
  run_out(keys_[0], theirs_);
  const auto answers = acquire_any(keys_, mine_, 1);
  EXPECT_EQ(places(answers), taken{0});
  EXPECT_TRUE(answers[0].took_over_expired);
  EXPECT_EQ(row(keys_[0]).expiry_count, 1);
}

// Otherwise an attempt whose answer got lost would hold more than it requested.
TEST_P(AcquireAny, IsGrantedTheSameOnceMoreAsTheSameAttempt) {
  for (const auto& key : keys_) touch(key);
  granted(keys_[0], theirs_);
  const auto first = acquire_any(keys_, mine_, 2);
  ASSERT_EQ(places(first), (taken{1, 2}));
  rows_->force_release({.key = keys_[0], .version = row(keys_[0]).version, .reason = "a test"});
  const auto again = acquire_any(keys_, mine_, 2);
  EXPECT_EQ(places(again), (taken{1, 2}));
  EXPECT_EQ(again[1].version, first[1].version);
}

TEST_P(AcquireAny, OfNothingOrNoneIsNothing) {
  EXPECT_TRUE(acquire_any({}, mine_, 3).empty());
  EXPECT_EQ(places(acquire_any(keys_, mine_, 0)), taken{});
  EXPECT_FALSE(read(keys_[0]));
}

TEST_P(AcquireAny, OfOneKeyTwiceIsMisuse) {
  try {
    acquire_any({key_, key_}, mine_, 1);
    ADD_FAILURE() << "was taken";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.kind(), errc::misuse);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, AcquireAny, testing::ValuesIn(every_store()), name_of);

class AcquireAnyAmongOthers : public AcquireAny {};

TEST_P(AcquireAnyAmongOthers, SkipsWhatATransactionHas) {
  for (const auto& key : keys_) touch(key);
  const locked_rows locked{*bench_, keys_[1]};
  EXPECT_EQ(places(acquire_any(keys_, mine_, 2)), (taken{0, 2}));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AcquireAnyAmongOthers);
INSTANTIATE_TEST_SUITE_P(Stores, AcquireAnyAmongOthers,
                         testing::ValuesIn(stores_with_transactions_side_by_side()), name_of);

}  // namespace
}  // namespace rowlock::tests
