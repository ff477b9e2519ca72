// Renewals by hand.
#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "lease/lease_state_test.hpp"
#include "rowlock/fence.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Extension : public lease_state_test {
 protected:
  [[nodiscard]] std::chrono::microseconds left_in_row(const std::string& id) {
    return rows_.rows().read(std::vector{lock_key{"job", id}}).front()->remaining.value();
  }
};

TEST_F(Extension, MakesTheLeaseLastItsTtlFromNowOnInTheRowToo) {
  const lease held = acquire("a");
  time_->advance(5s);
  EXPECT_EQ(held.extend(2min), extend_result::extended);
  EXPECT_EQ(held.remaining(), 119s);
  EXPECT_EQ(left_in_row("a"), 2min);
}

TEST_F(Extension, LaterRenewalsKeepTheLongerTtl) {
  const lease held = acquire("a");
  ASSERT_EQ(held.extend(2min), extend_result::extended);
  time_->advance(39s);
  const lease other = acquire("other", 3s);  // shows that the renewer goes on
  time_->advance(1s);
  await_that([&] { return held.remaining() == 119s; });
  EXPECT_EQ(left_in_row("a"), 2min);
}

TEST_F(Extension, ByLessThanItsTtlRenewsItByItsTtl) {
  const lease held = acquire("a");
  time_->advance(5s);
  EXPECT_EQ(held.extend(2s), extend_result::extended);
  EXPECT_EQ(held.remaining(), 29s);
  EXPECT_EQ(left_in_row("a"), 30s);
}

TEST_F(Extension, WorksWithoutBackgroundRenewalAndStartsNone) {
  lock_table locks{rows_, {.ttl = 30s, .margin = 1s, .renew = false, .time = time_}};
  const lease held = *locks.try_acquire({"job", "a"});
  time_->advance(20s);
  EXPECT_EQ(held.extend(30s), extend_result::extended);
  EXPECT_EQ(held.remaining(), 29s);
  time_->advance(29s);
  await(held.lost());
  EXPECT_EQ(rows_.batches("renew").size(), 1U);
}

TEST_F(Extension, WorksAfterTheEndOfBackgroundRenewal) {
  const lease held = *locks_->try_acquire({"job", "a"}, {.renew_for = 30s});
  for (int i = 1; i <= 2; ++i) {
    time_->advance(10s);
    await_that([&] { return held.remaining() == 29s; });
  }
  time_->advance(15s);
  EXPECT_EQ(held.extend(1min), extend_result::extended);
  EXPECT_EQ(held.remaining(), 59s);
  time_->advance(58s);
  EXPECT_TRUE(held.is_valid());
  time_->advance(1s);
  await(held.lost());
}

TEST_F(Extension, WaitsForARenewalUnderWayThatWouldShortenIt) {
  const lease held = acquire("a");
  gate answered;
  rows_.before("renew", [&] { answered.pass(); });
  time_->advance(10s);
  rows_.await("renew", 1);
  auto extended = std::async(std::launch::async, [&] { return held.extend(2min); });
  EXPECT_EQ(rows_.batches("renew").size(), 1U);
  answered.open();
  EXPECT_EQ(extended.get(), extend_result::extended);
  EXPECT_EQ(rows_.batches("renew").size(), 2U);
  EXPECT_EQ(left_in_row("a"), 2min);
}

TEST_F(Extension, DuringWhichNoRenewalBegins) {
  const lease held = acquire("a");
  gate answered;
  rows_.before("renew", [&] { answered.pass(); });
  auto extended = std::async(std::launch::async, [&] { return held.extend(2min); });
  rows_.await("renew", 1);
  const lease other = acquire("other");
  time_->advance(10s);
  rows_.await("renew", 2);  // of the other one
  answered.open();
  EXPECT_EQ(extended.get(), extend_result::extended);
  rows_.await_answers("renew", 2);
  EXPECT_EQ(rows_.batches("renew"), (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(left_in_row("a"), 2min);
  EXPECT_EQ(held.remaining(), 109s);
}

TEST_F(Extension, OfALeaseWhoseDeadlineComesDuringItIsLost) {
  const lease held = acquire("a");
  gate answered;
  rows_.before("renew", [&] { answered.pass(); });
  time_->advance(10s);
  rows_.await("renew", 1);
  auto extended = std::async(std::launch::async, [&] { return held.extend(2min); });
  time_->advance(19s);
  EXPECT_EQ(extended.get(), extend_result::lost);
  answered.open();
  EXPECT_FALSE(held.is_valid());
}

TEST_F(Extension, ThatFailsLeavesTheDeadlineAndRenewalGoesOn) {
  const lease held = acquire("a");
  time_->advance(5s);
  rows_.before("renew", [] { throw error{errc::unavailable, "away"}; });
  EXPECT_THROW(static_cast<void>(held.extend(2min)), error);
  EXPECT_EQ(held.remaining(), 24s);
  rows_.before("renew", {});
  rows_.await_moving(*time_, "renew", 2);
  await_that([&] { return held.remaining() > 24s; });
}

TEST_F(Extension, OfARowThatATransactionHasIsBusyAndIsTriedForAMoment) {
  const lease held = acquire("a");
  memory_transaction work{rows_.rows()};
  fence(work, held);
  auto extended = std::async(std::launch::async, [&] { return held.extend(2min); });
  await_answer(extended, [&] { time_->advance(5ms); });
  EXPECT_EQ(extended.get(), extend_result::busy);
  EXPECT_GT(rows_.batches("renew").size(), 1U);
  EXPECT_LT(held.remaining(), 29s);
  EXPECT_TRUE(held.is_valid());
}

TEST_F(Extension, OfALeaseThatIsOverSendsNothing) {
  lease held = acquire("a");
  held.release();
  EXPECT_EQ(held.extend(2min), extend_result::lost);
  EXPECT_TRUE(rows_.batches("renew").empty());
}

TEST_F(Extension, OfALeaseThatWasTakenAwayIsLostAtOnce) {
  const lease held = acquire("a");
  ASSERT_EQ(rows_.force_release({{"job", "a"}, held.token(), "a test"}), force_answer::released);
  EXPECT_EQ(held.extend(2min), extend_result::lost);
  await(held.lost());
}

TEST_F(Extension, OutOfRangeIsMisuse) {
  const lease held = acquire("a");
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(held.extend(1s)); })) << "not above the margin";
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(held.extend(24h + 1ms)); }));
  EXPECT_TRUE(is_misuse([&] { static_cast<void>(held.extend(-1s)); }));
  EXPECT_EQ(held.extend(24h), extend_result::extended);
}

}  // namespace
}  // namespace rowlock::tests
