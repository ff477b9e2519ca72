// When calls go side by side, and for how many of them.
#include "batch/batch_backoff.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

class BatchBackoff : public testing::Test {
 protected:
  static constexpr auto acquire = statement_kind::acquire;
  static constexpr auto release = statement_kind::release;

  void SetUp() override {
    backoff_.answered(acquire, 1, 3ms, true);
    backoff_.answered(release, 1, 1ms, true);
  }

  void slow() { backoff_.answered(acquire, 1, 24h, true); }
  /// Calls that go side by side from now on.
  std::size_t length() {
    std::size_t calls = 0;
    for (; backoff_.is_side_by_side(); ++calls) backoff_.answered(acquire, 1, 24h, false);
    return calls;
  }
  void quick(std::size_t calls) { backoff_.answered(acquire, calls, 3ms, true); }

  batch_backoff backoff_{{.slow_call = 10ms, .fewest = 4, .most = 13}};
};

TEST_F(BatchBackoff, StatementsGoOneAtATimeUntilOneIsSlow) {
  EXPECT_FALSE(backoff_.is_side_by_side());
  slow();
  EXPECT_TRUE(backoff_.is_side_by_side());
  EXPECT_EQ(length(), 4);
}

TEST_F(BatchBackoff, OneIsSlowThatTakesLongerThanTwiceTheQuickestAndATimeForEachCall) {
  backoff_.answered(acquire, 1, 16ms, true);
  backoff_.answered(acquire, 3, 36ms, true);
  EXPECT_FALSE(backoff_.is_side_by_side());
  backoff_.answered(acquire, 3, 36ms + 1ns, true);
  EXPECT_TRUE(backoff_.is_side_by_side());
}

TEST_F(BatchBackoff, TheQuickestIsOfTheSameKind) {
  backoff_.answered(acquire, 1, 16ms, true);
  EXPECT_FALSE(backoff_.is_side_by_side());
  backoff_.answered(release, 1, 12ms + 1ns, true);
  EXPECT_TRUE(backoff_.is_side_by_side());
}

TEST_F(BatchBackoff, OneIsQuickOnlyForSoManyStatementsAfterIt) {
  batch_backoff farther{{.slow_call = 10ms, .recent = 3}};
  farther.answered(acquire, 1, 1ms, true);
  for (int i = 0; i < 5; ++i) {
    farther.answered(acquire, 256, 100ms, true);
    EXPECT_FALSE(farther.is_side_by_side());
  }
  farther.answered(acquire, 1, 210ms, true);
  EXPECT_FALSE(farther.is_side_by_side());
  farther.answered(acquire, 1, 210ms + 1ns, true);
  EXPECT_TRUE(farther.is_side_by_side());
}

TEST_F(BatchBackoff, TheFirstStatementIsNotSlow) {
  batch_backoff begun{{}};
  begun.answered(acquire, 1, 24h, true);
  EXPECT_FALSE(begun.is_side_by_side());
}

TEST_F(BatchBackoff, OneBesideOthersIsNotSlow) {
  backoff_.answered(acquire, 1, 24h, false);
  EXPECT_FALSE(backoff_.is_side_by_side());
}

TEST_F(BatchBackoff, AStatementSideBySideIsTheQuickestToo) {
  slow();
  backoff_.answered(acquire, 4, 1ms, false);
  ASSERT_FALSE(backoff_.is_side_by_side());
  backoff_.answered(acquire, 1, 12ms + 1ns, true);
  EXPECT_TRUE(backoff_.is_side_by_side());
}

TEST_F(BatchBackoff, AStatementForMoreCallsThanAreLeftEndsIt) {
  slow();
  backoff_.answered(acquire, 5, 3ms, false);
  EXPECT_FALSE(backoff_.is_side_by_side());
}

TEST_F(BatchBackoff, EachFurtherOneIsTwiceAsLongUpToALimit) {
  for (const std::size_t expected : {4, 8, 13, 13}) {
    slow();
    EXPECT_EQ(length(), expected);
  }
}

TEST_F(BatchBackoff, AfterAsManyQuickCallsTheNextOneIsShort) {
  for (int i = 0; i < 2; ++i) {
    slow();
    length();
  }
  quick(7);
  slow();
  EXPECT_EQ(length(), 13);
  quick(13);
  slow();
  EXPECT_EQ(length(), 4);
}

}  // namespace
}  // namespace rowlock::detail
