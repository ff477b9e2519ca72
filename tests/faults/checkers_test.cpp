// Each checker finds what it is there to find, and nothing in a run as it should be.
#include "faults/checkers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

boot_clock::time_point at(std::chrono::milliseconds time) { return boot_clock::time_point{time}; }

/// Key 1 has the counter, key 2 the entries that are only added; three holders each.
history as_it_should_be() {
  return {
      .entries = {{.place = 1, .key = 1, .version = {10}, .counted = 1},
                  {.place = 2, .key = 2, .version = {11}, .smaller = 0},
                  {.place = 3, .key = 1, .version = {20}, .counted = 2},
                  {.place = 4, .key = 2, .version = {21}, .smaller = 1},
                  {.place = 5, .key = 1, .version = {30}, .counted = 3},
                  {.place = 6, .key = 2, .version = {31}, .smaller = 2}},
      .counters = {{1, 3}},
      .beliefs =
          {{.key = 1, .version = {10}, .begin = at(0ms), .end = at(10ms), .acknowledged = true},
           {.key = 2, .version = {11}, .begin = at(5ms), .end = at(15ms)},
           {.key = 1, .version = {20}, .begin = at(10ms), .end = at(20ms)}},
  };
}

TEST(Checkers, FindNothingInARunAsItShouldBe) {
  const auto seen = as_it_should_be();
  EXPECT_EQ(lost_commits(seen), std::vector<std::string>{});
  EXPECT_EQ(lost_updates(seen), std::vector<std::string>{});
  EXPECT_EQ(versions_out_of_order(seen), std::vector<std::string>{});
  EXPECT_EQ(commits_after_takeover(seen), std::vector<std::string>{});
  EXPECT_EQ(overlapping_beliefs(seen), std::vector<std::string>{});
}

TEST(Checkers, FindWhatWasToldToBeCommittedAndIsGone) {
  auto seen = as_it_should_be();
  seen.entries.pop_back();  // as when no commit was reported
  EXPECT_EQ(lost_commits(seen).size(), 0U);
  seen.entries.erase(seen.entries.begin());
  EXPECT_EQ(lost_commits(seen).size(), 1U);
}

TEST(Checkers, FindAnIncrementThatWasOverwritten) {
  auto seen = as_it_should_be();
  seen.counters[1] = 2;
  EXPECT_EQ(lost_updates(seen).size(), 1U);
}

TEST(Checkers, FindACounterThatNoTransactionOfItsHistoryRaised) {
  auto seen = as_it_should_be();
  seen.counters[3] = 1;
  EXPECT_EQ(lost_updates(seen).size(), 1U);
}

TEST(Checkers, FindAVersionWrittenAfterAGreaterOne) {
  auto seen = as_it_should_be();
  seen.entries[1].place = 7;
  EXPECT_EQ(versions_out_of_order(seen).size(), 1U);
}

TEST(Checkers, FindACounterRaisedOverAGreaterVersion) {
  auto seen = as_it_should_be();
  std::swap(seen.entries[0].counted, seen.entries[2].counted);
  EXPECT_EQ(versions_out_of_order(seen).size(), 1U);
}

TEST(Checkers, FindAVersionThatCommittedTwice) {
  auto seen = as_it_should_be();
  seen.entries[3].version = seen.entries[1].version;
  EXPECT_EQ(versions_out_of_order(seen).size(), 1U);
}

TEST(Checkers, FindWhatAFormerHolderCommittedAfterATakeover) {
  auto seen = as_it_should_be();
  seen.entries.push_back({.place = 7, .key = 2, .version = {25}, .smaller = 2});
  EXPECT_EQ(commits_after_takeover(seen).size(), 1U);
}

TEST(Checkers, FindTwoThatBelievedAtOnce) {
  auto seen = as_it_should_be();
  seen.beliefs[0].end = at(11ms);
  EXPECT_EQ(overlapping_beliefs(seen).size(), 1U);
}

TEST(Checkers, FindABeliefInsideALongerOneThatIsNotTheLast) {
  auto seen = as_it_should_be();
  seen.beliefs.push_back({.key = 2, .version = {12}, .begin = at(6ms), .end = at(7ms)});
  seen.beliefs.push_back({.key = 2, .version = {13}, .begin = at(8ms), .end = at(9ms)});
  EXPECT_EQ(overlapping_beliefs(seen).size(), 2U);
}

TEST(Checkers, CountALeaseThatWasNeverValidAsNoBelief) {
  auto seen = as_it_should_be();
  seen.beliefs.push_back({.key = 1, .version = {15}, .begin = at(5ms), .end = at(5ms)});
  EXPECT_EQ(overlapping_beliefs(seen).size(), 0U);
}

TEST(Checkers, CountARowLockAsBelievedIfItsTransactionCommitted) {
  auto seen = as_it_should_be();
  seen.beliefs.push_back({.key = 1,
                          .version = {15},
                          .kind = possession_kind::row_lock,
                          .begin = at(5ms),
                          .end = at(6ms)});
  EXPECT_EQ(overlapping_beliefs(seen).size(), 0U);
  seen.entries.push_back({.place = 2, .key = 1, .version = {15}, .counted = 2});
  EXPECT_EQ(overlapping_beliefs(seen).size(), 1U);
}

}  // namespace
}  // namespace rowlock::tests
