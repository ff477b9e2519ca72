// That a call for many which fails for one of them fails for that one only.
#include "batch/bisect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"

namespace rowlock::detail {
namespace {

class Bisect : public testing::Test {
 protected:
  void call_for(std::size_t count, errc kind) {
    bisect(
        {.count = count},
        [&](slice some) {
          ++calls_;
          for (auto place = some.begin; place < some.begin + some.count; ++place) {
            if (bad_.contains(place)) throw error{kind, "a trigger raised: drop it"};
          }
          for (auto place = some.begin; place < some.begin + some.count; ++place) ++done_[place];
        },
        [&](slice some, const std::exception_ptr& fault) {
          EXPECT_THROW(std::rethrow_exception(fault), error);
          failed_.emplace_back(some.begin, some.count);
        },
        [this] { return calls_ >= limits_; });
  }
  void all_are_bad(std::size_t count) {
    for (std::size_t place = 0; place < count; ++place) bad_.insert(place);
  }
  /// In how many failed slices the place is.
  [[nodiscard]] std::size_t faults_of(std::size_t place) const {
    std::size_t count = 0;
    for (const auto& [begin, size] : failed_) {
      if (place >= begin && place < begin + size) ++count;
    }
    return count;
  }

  std::set<std::size_t> bad_;
  std::size_t calls_ = 0;
  std::size_t limits_ = 1'000'000;  // calls
  std::map<std::size_t, int> done_;
  std::vector<std::pair<std::size_t, std::size_t>> failed_;
};

TEST_F(Bisect, WhatSucceedsIsOneCall) {
  call_for(100, errc::rejected);
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(done_.size(), 100);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(Bisect, OfNoneIsOneCallAtMost) {
  call_for(0, errc::rejected);
  EXPECT_LE(calls_, 1);
  EXPECT_TRUE(failed_.empty());
}

TEST_F(Bisect, OneThatFailsFailsAloneWhereverItIs) {
  for (const auto kind : {errc::rejected, errc::unavailable, errc::outcome_unknown}) {
    for (std::size_t bad = 0; bad < 100; ++bad) {
      bad_ = {bad};
      calls_ = 0;
      done_.clear();
      failed_.clear();
      call_for(100, kind);
      EXPECT_EQ(failed_, (std::vector<std::pair<std::size_t, std::size_t>>{{bad, 1}}));
      EXPECT_EQ(done_.size(), 99) << "all but one, in vain or not: " << bad;
      EXPECT_LE(calls_, 15) << "two for each bit";
    }
  }
}

TEST_F(Bisect, SeveralThatFailEachFailAlone) {
  bad_ = {0, 13, 26, 31, 49, 50, 77, 78, 88, 99};
  call_for(100, errc::rejected);
  EXPECT_EQ(failed_.size(), bad_.size());
  EXPECT_EQ(done_.size(), 100 - bad_.size());
}

TEST_F(Bisect, AnOutageIsToldOnceAfterThreeCalls) {
  for (const std::size_t count : {2U, 3U, 1000U}) {
    all_are_bad(count);
    calls_ = 0;
    failed_.clear();
    call_for(count, errc::unavailable);
    EXPECT_EQ(calls_, 3);
    EXPECT_EQ(failed_, (std::vector<std::pair<std::size_t, std::size_t>>{{0, count}}));
  }
}

// Three quick faults of one key each, and then one that looks like an outage.
TEST_F(Bisect, AFaultThatMayPassIsNoOutageBecauseOthersCameBefore) {
  bad_ = {0, 40, 70};
  std::size_t calls = 0;
  bisect(
      {.count = 100},
      [&](slice some) {
        const bool is_bad = std::any_of(bad_.begin(), bad_.end(), [&](std::size_t place) {
          return place >= some.begin && place < some.begin + some.count;
        });
        if (!is_bad) return;
        throw error{++calls == 4 ? errc::unavailable : errc::rejected, "a trigger raised: drop it"};
      },
      [&](slice some, const std::exception_ptr& /*fault*/) {
        failed_.emplace_back(some.begin, some.count);
      },
      [] { return false; });
  EXPECT_EQ(failed_.size(), bad_.size());
}

TEST_F(Bisect, NoCallBeginsOnceItIsTimeToGiveUpAndEachIsToldOnce) {
  for (const std::size_t calls : {1U, 2U, 3U, 4U, 5U}) {
    bad_ = {3};
    calls_ = 0;
    done_.clear();
    failed_.clear();
    limits_ = calls;
    call_for(100, errc::rejected);
    EXPECT_EQ(calls_, calls);
    for (std::size_t place = 0; place < 100; ++place) {
      ASSERT_EQ(faults_of(place) + done_.count(place), 1) << place << " after " << calls;
    }
  }
}

TEST_F(Bisect, WhatFailsForAllIsGivenUpSoonAndEachIsToldOnce) {
  all_are_bad(1000);
  call_for(1000, errc::rejected);
  EXPECT_LE(calls_, 70);
  for (std::size_t place = 0; place < 1000; ++place) ASSERT_EQ(faults_of(place), 1) << place;
}

}  // namespace
}  // namespace rowlock::detail
