// The choice between one batch at a time and several, measurement by measurement.
#include "batch/batch_width.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

class BatchWidth : public testing::Test {
 protected:
  explicit BatchWidth(unsigned trials_to_change = 1) : width_{limits(trials_to_change)} {}

  static constexpr double never = 1e9;
  static constexpr batch_width::limits limits(unsigned trials_to_change) {
    return {.calls = 2,
            .statements = 2,
            .unsettled = 0,
            .planned_at_first = 0,
            .fewest_between = 2,
            .most_between = 8,
            .clearly_more = never,
            .trials_to_change = trials_to_change,
            .begins_as_one = true};
  }

  /// One measurement of two statements.
  void measure(batch_width::duration each) {
    width_.answered(1, true, each);
    width_.answered(1, true, each);
  }
  /// The width before each of `count` measurements: 1 or n.
  std::string widths(int count, batch_width::duration one, batch_width::duration side_by_side) {
    std::string seen;
    for (int i = 0; i < count; ++i) {
      seen += width_.is_one() ? '1' : 'n';
      measure(width_.is_one() ? one : side_by_side);
    }
    return seen;
  }

  batch_width width_;
};

TEST_F(BatchWidth, StatementsRunSideBySideUntilTheOtherWayIsMeasured) {
  EXPECT_FALSE(batch_width{{}}.is_one());
}

TEST_F(BatchWidth, TrialsInVainBecomeRarerUpToALimit) {
  EXPECT_EQ(widths(40, 10us, 20us),
            "11n1"
            "1111n1"
            "11111111n1"
            "11111111n1"
            "11111111n1");
}

TEST_F(BatchWidth, TheWayInWhichCallsTakeClearlyLessTimeIsKept) {
  EXPECT_EQ(widths(14, 20us, 16us),
            "11n1"
            "nn1n"
            "nnnn1n");
}

TEST_F(BatchWidth, OneInWhichTheyTakeALittleLessIsNot) {
  EXPECT_EQ(widths(10, 20us, 18us),
            "11n1"
            "1111n1");
}

TEST_F(BatchWidth, ATieChangesNothing) {
  EXPECT_EQ(widths(10, 20us, 20us),
            "11n1"
            "1111n1");
}

TEST_F(BatchWidth, AChangeOfLoadIsNoticedInTheNextTrial) {
  widths(40, 10us, 20us);
  EXPECT_EQ(widths(12, 12us, 10us),
            "11111111n1"
            "nn");
}

TEST_F(BatchWidth, OneSlowMomentOutsideATrialDecidesNothing) {
  measure(10us);
  measure(12us);
  ASSERT_FALSE(width_.is_one());
  measure(10us);
  ASSERT_TRUE(width_.is_one());
  measure(10us);
  EXPECT_TRUE(width_.is_one()) << "of 12 us and 10 us, 10 us is no less than both";
}

// As beside a transaction that stays open: one at a time, all rows come into the same pages, and
// calls become slower.
TEST_F(BatchWidth, AWayThatWasFoundIsGivenUpWhenItsCallsTakeAsLongAsTheOtherWayTook) {
  ASSERT_EQ(widths(4, 20us, 10us), "11n1");
  ASSERT_EQ(widths(4, 20us, 19us), "nn1n");
  ASSERT_EQ(widths(3, 20us, 21us), "nnn");
  ASSERT_EQ(widths(1, 20us, 19us), "n") << "not in a row";
  ASSERT_EQ(widths(1, 25us, 21us), "1") << "a trial";
  EXPECT_EQ(widths(9, 25us, 21us), "nnnnnnnnn") << "the first one is a part of the trial";
  EXPECT_EQ(widths(12, 21us, 25us), "11111111n111") << "a trial, and no other change";
}

TEST_F(BatchWidth, AWayThatWasFoundIsComparedWithBothMeasurementsBesideTheTrial) {
  measure(30us);
  measure(20us);
  measure(10us);
  measure(22us);
  EXPECT_EQ(widths(20, 30us, 20500ns),
            "nn1n"
            "nnnn1n"
            "nnnnnnnn1n")
      << "less than 21 us";
  EXPECT_EQ(widths(12, 30us, 21500ns), "nnnnnnnn1111");
}

TEST_F(BatchWidth, AfterAWayWasGivenUpTheNextTrialComesAsAfterOneThatEndedEarly) {
  batch_width width{{.calls = 1,
                     .statements = 1,
                     .unsettled = 0,
                     .planned_at_first = 0,
                     .fewest_between = 1,
                     .most_between = 16,
                     .trials_to_change = 1,
                     .no_better_in_a_row = 1}};
  std::string seen;
  for (const auto each : {20us, 10us, 20us, 21us, 20us, 20us, 20us, 20us, 20us}) {
    seen += width.is_one() ? '1' : 'n';
    width.answered(1, true, each);
  }
  EXPECT_EQ(seen, "n1n1nnnn1");
}

TEST_F(BatchWidth, TheWayInWhichItBeganIsGivenUpInTrialsOnly) {
  widths(4, 10us, 20us);
  EXPECT_EQ(widths(14, 100us, 200us),
            "1111n1"
            "11111111");
}

TEST_F(BatchWidth, ALoadThatFallsDuringATrialMakesNoWayBetter) {
  measure(100us);
  measure(100us);
  ASSERT_FALSE(width_.is_one());
  measure(20us);  // twice as long as one at a time would have taken by now
  measure(10us);
  EXPECT_TRUE(width_.is_one());
}

// As beside a transaction that stays open: the dead versions of a row become more and more.
TEST_F(BatchWidth, ThatCallsBecomeSlowerAllTheTimeHidesNoBetterWay) {
  measure(100us);
  measure(120us);
  ASSERT_FALSE(width_.is_one());
  measure(101us);  // less than 0.85 times what one at a time took before it
  measure(160us);
  EXPECT_FALSE(width_.is_one());
}

class BatchWidthOfTwoTrials : public BatchWidth {
 protected:
  BatchWidthOfTwoTrials() : BatchWidth{batch_width::limits{}.trials_to_change} {}
};

TEST_F(BatchWidthOfTwoTrials, TheOtherWayIsKeptAfterTwoInSuccessionThatItHasWon) {
  EXPECT_EQ(widths(12, 20us, 10us),
            "11n1n1"
            "nn1n"
            "nn");
}

TEST_F(BatchWidthOfTwoTrials, AChangeBackNeedsTwoToo) {
  ASSERT_EQ(widths(6, 20us, 10us), "11n1n1");
  EXPECT_EQ(widths(7, 10us, 20us), "nn1n1n1");
}

// Single measurements are uneven.
TEST_F(BatchWidthOfTwoTrials, OneTrialThatIsWonAndOneThatIsLostChangeNothing) {
  ASSERT_EQ(widths(2, 20us, 10us), "11");
  ASSERT_EQ(widths(3, 20us, 10us), "n1n");
  measure(10us);  // no longer less than both
  EXPECT_EQ(widths(5, 20us, 10us), "1111n") << "the next one after twice as many";
  EXPECT_EQ(widths(4, 20us, 10us), "1n1n") << "again two in succession are needed";
}

// Without them, the way in which calls meet less often would be judged by its slower moments.
TEST_F(BatchWidth, CallsThatMeetNoOtherMakeNoMeasurementAndCountInIt) {
  for (int i = 0; i < 10; ++i) width_.answered(1, false, 10us);
  measure(20us);
  ASSERT_TRUE(width_.is_one());
  measure(20us);
  ASSERT_FALSE(width_.is_one());
  for (int i = 0; i < 10; ++i) width_.answered(1, false, 10us);
  ASSERT_FALSE(width_.is_one());
  measure(30us);  // with those 13 us
  ASSERT_TRUE(width_.is_one());
  measure(20us);
  EXPECT_FALSE(width_.is_one());
}

// A trial that began in the evening is not compared with the calls of a night.
TEST_F(BatchWidth, AMeasurementBeginsAnewAfterManyCallsThatMetNoOther) {
  batch_width width{
      {.calls = 2, .statements = 2, .most_alone = 3, .fewest_between = 1, .begins_as_one = true}};
  width.answered(1, true, 10us);
  for (int i = 0; i < 4; ++i) width.answered(1, false, 10us);
  width.answered(1, true, 10us);
  EXPECT_TRUE(width.is_one());
  width.answered(1, true, 10us);
  EXPECT_FALSE(width.is_one());
}

TEST_F(BatchWidth, EachChangeBeginsAnEpoch) {
  EXPECT_EQ(width_.epoch(), 0);
  widths(2, 10us, 20us);
  EXPECT_EQ(width_.epoch(), 1);
  widths(1, 10us, 20us);
  EXPECT_EQ(width_.epoch(), 2);
}

TEST_F(BatchWidth, AMeasurementHasEnoughCallsAndStatements) {
  batch_width many_calls{{.calls = 5,
                          .statements = 1,
                          .fewest_between = 1,
                          .trials_to_change = 1,
                          .begins_as_one = true}};
  many_calls.answered(9, false, 1us);
  many_calls.answered(4, true, 1us);
  EXPECT_TRUE(many_calls.is_one());
  many_calls.answered(0, true, 0us);
  EXPECT_TRUE(many_calls.is_one());
  many_calls.answered(1, true, 1us);
  EXPECT_FALSE(many_calls.is_one());
  batch_width many_statements{{.calls = 1,
                               .statements = 2,
                               .fewest_between = 1,
                               .trials_to_change = 1,
                               .begins_as_one = true}};
  many_statements.answered(9, false, 1us);
  many_statements.answered(9, true, 1us);
  EXPECT_TRUE(many_statements.is_one());
  many_statements.answered(9, true, 1us);
  EXPECT_FALSE(many_statements.is_one());
}

// Their calls waited for the statements of the other way to end.
TEST_F(BatchWidth, TheFirstStatementsAfterAChangeDoNotCount) {
  batch_width width{{.calls = 2,
                     .statements = 2,
                     .unsettled = 2,
                     .planned_at_first = 0,
                     .fewest_between = 1,
                     .clearly_more = never,
                     .trials_to_change = 1,
                     .begins_as_one = false}};
  width.answered(1, true, 20us);
  width.answered(1, true, 20us);
  ASSERT_TRUE(width.is_one());
  width.answered(1, true, 1s);
  width.answered(1, true, 1s);
  width.answered(1, true, 10us);
  ASSERT_TRUE(width.is_one());
  width.answered(1, true, 10us);
  ASSERT_FALSE(width.is_one());
  width.answered(1, true, 1us);
  width.answered(1, true, 1us);
  width.answered(1, true, 20us);
  width.answered(1, true, 20us);
  EXPECT_TRUE(width.is_one()) << "10 us are less than 20";
}

// One at a time, it takes some statements until as many calls as usual share one; and at first
// PostgreSQL plans them.
TEST_F(BatchWidth, ByDefaultTheFirstStatementsAfterAChangeDoNotCountAndMoreOfThemInTheFirstTrial) {
  batch_width width{{.calls = 2, .statements = 2, .fewest_between = 1, .trials_to_change = 1}};
  const auto settle = [&](int statements, batch_width::duration each) {
    for (int i = 0; i < statements; ++i) width.answered(1, true, 29us);
    for (int i = 0; i < 2; ++i) width.answered(1, true, each);
  };
  width.answered(1, true, 20us);
  width.answered(1, true, 20us);
  ASSERT_TRUE(width.is_one());
  settle(16, 10us);
  ASSERT_FALSE(width.is_one());
  settle(8, 20us);
  EXPECT_TRUE(width.is_one());
}

TEST_F(BatchWidth, StatementsThatAreToBePlannedDoNotEndTheFirstTrialAndThoseOfALaterOneDo) {
  batch_width width{{.calls = 2,
                     .statements = 2,
                     .unsettled = 0,
                     .planned_at_first = 2,
                     .fewest_between = 1,
                     .rarer_after_it = 1}};
  const auto answered = [&](int statements, batch_width::duration each) {
    for (int i = 0; i < statements; ++i) width.answered(1, true, each);
  };
  answered(2, 10us);
  answered(2, 1s);
  ASSERT_TRUE(width.is_one());
  answered(1, 31us);
  ASSERT_FALSE(width.is_one()) << "more than 1.5 times 20 us";
  answered(2 + 2, 10us);
  ASSERT_TRUE(width.is_one());
  answered(1, 31us);
  EXPECT_FALSE(width.is_one());
}

/// How long a trial may take, and what follows it, are the defaults.
class BatchWidthOfSlowTrials : public testing::Test {
 protected:
  explicit BatchWidthOfSlowTrials(bool begins_as_one = false)
      : width_{{.calls = 4,
                .statements = 4,
                .most_alone = 8,
                .unsettled = 2,
                .planned_at_first = 0,
                .fewest_between = 2,
                .most_between = 64,
                .trials_to_change = 1,
                .begins_as_one = begins_as_one}} {}

  /// Statements of one call each, until the width changes.
  int until_change(batch_width::duration each) {
    const auto epoch = width_.epoch();
    for (int count = 1; count <= most; ++count) {
      width_.answered(1, true, each);
      if (width_.epoch() != epoch) return count;
    }
    return most;
  }

  static constexpr int most = 1000;
  batch_width width_;
};

class BatchWidthOfSlowTrialsSideBySide : public BatchWidthOfSlowTrials {
 protected:
  BatchWidthOfSlowTrialsSideBySide() : BatchWidthOfSlowTrials{true} {}
};

TEST_F(BatchWidthOfSlowTrials, ATrialEndsAsSoonAsItsCallsTookFarMoreTimeThanAsManyBefore) {
  ASSERT_EQ(until_change(10us), 2 * 4);
  ASSERT_TRUE(width_.is_one());
  width_.answered(1, true, 29us);
  width_.answered(1, true, 29us);
  EXPECT_TRUE(width_.is_one()) << "60 us are what four calls may take";
  width_.answered(1, true, 3us);
  EXPECT_FALSE(width_.is_one());
}

TEST_F(BatchWidthOfSlowTrials, WhatATrialThatEndedEarlyHadMeasuredDoesNotCountAfterIt) {
  ASSERT_EQ(until_change(10us), 2 * 4);
  ASSERT_EQ(until_change(20us), 4) << "one of these counted";
  EXPECT_EQ(until_change(10us), 2 + 4 + 4 * 2 * 4);
}

TEST_F(BatchWidthOfSlowTrials, EachIsJudgedByItsOwnCalls) {
  ASSERT_EQ(until_change(10us), 2 * 4);
  ASSERT_EQ(until_change(14us), 2 + 4);
  ASSERT_EQ(until_change(10us), 2 + 4 + 2 * 2 * 4);
  EXPECT_EQ(until_change(14us), 2 + 4);
  ASSERT_EQ(until_change(10us), 2 + 4 + 4 * 2 * 4);
  ASSERT_EQ(until_change(59us), 2);
}

TEST_F(BatchWidthOfSlowTrialsSideBySide, EndEarlyToo) {
  ASSERT_EQ(until_change(10us), 2 * 4);
  ASSERT_FALSE(width_.is_one());
  EXPECT_EQ(until_change(31us), 2);
}

TEST_F(BatchWidthOfSlowTrials, CallsBeforeTheMeasurementBeganAnewAreForgotten) {
  ASSERT_EQ(until_change(10us), 2 * 4);
  for (int i = 0; i < 2 + 9; ++i) width_.answered(1, false, 9us);
  width_.answered(1, true, 59us);
  EXPECT_TRUE(width_.is_one());
  width_.answered(1, true, 2us);
  EXPECT_FALSE(width_.is_one());
}

TEST_F(BatchWidthOfSlowTrials, ManyCallsMayTakeAsManyTimesAsLong) {
  ASSERT_EQ(until_change(10us), 2 * 4);
  EXPECT_EQ(until_change(14us), 2 + 4) << "a whole trial: 84 us of the 90 that six calls may take";
}

TEST_F(BatchWidthOfSlowTrials, AreFollowedByTheNextOneMuchLater) {
  ASSERT_EQ(until_change(10us), 2 * 4);
  ASSERT_EQ(until_change(1ms), 1);
  EXPECT_EQ(until_change(10us), 2 + 4 + 4 * 2 * 4)
      << "the measurement after it, and four times as many";
  ASSERT_EQ(until_change(1ms), 1);
  EXPECT_EQ(until_change(10us), 2 + 4 + 4 * 4 * 2 * 4);
}

TEST_F(BatchWidthOfSlowTrials, OneThatIsLostByLittleIsFollowedByTheNextOneSooner) {
  ASSERT_EQ(until_change(10us), 2 * 4);
  ASSERT_EQ(until_change(11us), 2 + 4);
  EXPECT_EQ(until_change(10us), 2 + 4 + 2 * 2 * 4);
}

// As with more threads: calls take longer in both ways.
TEST_F(BatchWidthOfSlowTrials, AWayThatATrialHasShownToBeFarBetterIsNotGivenUp) {
  ASSERT_EQ(until_change(20us), 2 * 4);
  ASSERT_EQ(until_change(10us), 2 + 4);
  ASSERT_EQ(until_change(20us), 2 + 4) << "the trial is won";
  ASSERT_EQ(until_change(25us), 2 + 2 * 4) << "the next one, before eight measurements";
  ASSERT_FALSE(width_.is_one());
  ASSERT_EQ(until_change(200us), 1) << "it is lost";
  ASSERT_EQ(until_change(25us), 2 + 4 + 4 * 2 * 4) << "eight measurements give nothing up";
  ASSERT_EQ(until_change(200us), 1);
  EXPECT_EQ(until_change(38us), 2 + 4 + 8 * 4) << "more than 1.5 times 25 us";
}

}  // namespace
}  // namespace rowlock::detail
