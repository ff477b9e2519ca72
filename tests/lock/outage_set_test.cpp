// A wait for several keys outlasts a short outage.
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "rowlock/read_write_lock.hpp"
#include "rowlock/semaphore.hpp"
#include "wait/outage_test.hpp"

namespace rowlock::tests {
namespace {

class OutageOfASet : public OutageTest {
 protected:
  using set_attempt = std::future<outcome<lease_set>>;

  set_attempt all_of(const retry_policy& wait) {
    return begin([this, wait] { return ours_->try_acquire_all(keys_, {.wait = wait}); });
  }
  set_attempt any_of(const retry_policy& wait) {
    return begin([this, wait] { return ours_->try_acquire_any(keys_, 1, {.wait = wait}); });
  }
  void lose_answers(const std::string& operation, int count) {
    rows_.after(operation, [left = std::make_shared<std::atomic<int>>(count)] {
      if ((*left)-- > 0) throw error{errc::outcome_unknown, "the connection was lost: ask again"};
    });
  }
  template <class Result>
  void expect_to_be_outlasted(std::future<Result> waiting) {
    let_attempts_fail(5);
    is_away_ = false;
    EXPECT_TRUE(end_of(waiting).acquired());
  }

  const std::vector<lock_key> keys_{{"job", "a"}, {"job", "b"}};
};

TEST_F(OutageOfASet, IsNoEndOfTheWait) {
  is_away_ = true;
  expect_to_be_outlasted(all_of(wait_for(1h)));
  is_away_ = true;
  expect_to_be_outlasted(any_of(wait_for(1h)));
}

TEST_F(OutageOfASet, ThatLastsIsThrownWhenTheTimeIsOver) {
  is_away_ = true;
  auto all = all_of(wait_for(1min));
  auto any = any_of(wait_for(1min));
  EXPECT_EQ(fault_of(all), errc::unavailable);
  EXPECT_EQ(fault_of(any), errc::unavailable);
}

TEST_F(OutageOfASet, IsThrownAtOnceToOneWhoAskedForThat) {
  is_away_ = true;
  auto impatient = wait_for(1h);
  impatient.through_outages = false;
  auto all = all_of(impatient);
  EXPECT_EQ(fault_of(all), errc::unavailable);
  auto any = any_of(no_wait());
  EXPECT_EQ(fault_of(any), errc::unavailable);
  EXPECT_EQ(attempts_, 2);
}

TEST_F(OutageOfASet, EndsWithAFaultThatDoesNotPass) {
  rows_.before("acquire_all", [] { throw error{errc::rejected, "deploy something"}; });
  auto all = all_of(wait_forever());
  EXPECT_EQ(fault_of(all), errc::rejected);
}

TEST_F(OutageOfASet, EndsWithAStop) {
  std::stop_source stop;
  is_away_ = true;
  auto all = all_of(wait_until_stopped(stop.get_token()));
  let_attempts_fail(5);
  stop.request_stop();
  const auto stopped = all.get();
  EXPECT_EQ(stopped.refusal().reason, refusal_reason::stopped);
  EXPECT_EQ(stopped.refusal().key, keys_.front());
}

TEST_F(OutageOfASet, IsAskedAboutByOneForAll) {
  is_away_ = true;
  std::vector<set_attempt> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(begin([this, i] {
      const std::vector<lock_key> keys{{"job", "a"}, {"job", std::to_string(i)}};
      return ours_->try_acquire_all(keys, {.wait = wait_for(24h)});
    }));
  }
  rows_.await("acquire_all", waiting.size());  // the first try of each
  let_attempts_fail(10);
  const auto before = attempts_.load();
  pass(*time_, 60s, 100ms);
  EXPECT_LT(attempts_ - before, 300);
  ours_.reset();
  for (auto& each : waiting) EXPECT_EQ(each.get().refusal().reason, refusal_reason::stopped);
}

TEST_F(OutageOfASet, WhichLosesTheAnswerOfAGrantIsAskedAboutAsTheSameAttempt) {
  lose_answers("acquire_all", 3);
  auto all = all_of(wait_for(1h));
  EXPECT_TRUE(end_of(all).acquired());
  EXPECT_EQ(rows_.batches("acquire_all").size(), 4);
}

TEST_F(OutageOfASet, WhichLosesAnswersIsSaidAtTheEndOfTheWait) {
  const auto held = theirs();
  rows_.before("acquire_all", [is_first = std::make_shared<std::atomic<int>>(2)] {
    if ((*is_first)-- > 0) throw error{errc::outcome_unknown, "the connection was lost: ask again"};
  });
  auto all = all_of(wait_for(1min));
  EXPECT_EQ(fault_of(all), errc::outcome_unknown);
}

TEST_F(OutageOfASet, IsNoEndForASemaphore) {
  semaphore permits{*ours_, {"job", "s"}, 2};
  is_away_ = true;
  expect_to_be_outlasted(begin([&] { return permits.try_acquire({.wait = wait_for(1h)}); }));
  is_away_ = true;  // and once the number of permits is agreed upon
  expect_to_be_outlasted(begin([&] { return permits.try_acquire({.wait = wait_for(1h)}); }));
}

TEST_F(OutageOfASet, TakesNoSecondPermitForAnAnswerThatGotLost) {
  semaphore permits{*ours_, {"job", "s"}, 2};
  lose_answers("acquire_any", 3);
  auto waiting = begin([&] { return permits.try_acquire({.wait = wait_for(1h)}); });
  const auto first = end_of(waiting);
  ASSERT_TRUE(first.acquired());
  EXPECT_TRUE(permits.try_acquire().acquired());
}

TEST_F(OutageOfASet, IsNoEndForReadersAndWriters) {
  read_write_lock catalogue{*ours_, {"job", "c"}, 2};
  is_away_ = true;
  expect_to_be_outlasted(
      begin([&] { return catalogue.try_acquire_shared({.wait = wait_for(1h)}); }));
  is_away_ = true;
  expect_to_be_outlasted(
      begin([&] { return catalogue.try_acquire_exclusive({.wait = wait_for(1h)}); }));
}

TEST_F(OutageOfASet, LeavesNoReaderBehindForAnAnswerThatGotLost) {
  read_write_lock catalogue{*ours_, {"job", "c"}, 2};
  lose_answers("acquire_any", 3);
  auto waiting = begin([&] { return catalogue.try_acquire_shared({.wait = wait_for(1h)}); });
  auto reader = end_of(waiting);
  ASSERT_TRUE(reader.acquired());
  EXPECT_TRUE(catalogue.try_acquire_shared().acquired());
  reader->release();
  lose_answers("acquire_all", 3);
  auto writing = begin([&] { return catalogue.try_acquire_exclusive({.wait = wait_for(1h)}); });
  EXPECT_TRUE(end_of(writing).acquired());
}

// Or the writer would wait for a slot, and its reader for the writer.
TEST_F(OutageOfASet, WhichLostAnAnswerLetsAReaderHaveItsSlotThoughAWriterWaits) {
  read_write_lock catalogue{*ours_, {"job", "c"}, 2};
  std::optional<lease> gate;
  rows_.after("acquire_any", [&, left = std::make_shared<int>(2)] {
    if (*left == 0) return;
    if (--*left == 0) gate.emplace(*theirs_.try_acquire({"job#3", "c"}));
    throw error{errc::outcome_unknown, "the connection was lost: ask again"};
  });
  auto reading = begin([&] { return catalogue.try_acquire_shared({.wait = wait_for(1min)}); });
  EXPECT_TRUE(end_of(reading).acquired());
}

TEST_F(OutageOfASet, WhichLostAnAnswerLetsAWriterTakeTheGateWhileReadersHoldSlots) {
  read_write_lock catalogue{*ours_, {"job", "c"}, 2};
  read_write_lock of_others{theirs_, {"job", "c"}, 2};
  auto reader = of_others.try_acquire_shared();
  rows_.before("acquire_all", [left = std::make_shared<std::atomic<int>>(2)] {
    if ((*left)-- > 0) throw error{errc::outcome_unknown, "the connection was lost: ask again"};
  });
  auto writing = begin([&] { return catalogue.try_acquire_exclusive({.wait = wait_for(1min)}); });
  // A writer that has the gate collects the slots.
  await_that([&] { return is_over(writing) || !rows_.batches("acquire_any").empty(); },
             [&] { time_->advance(100ms); });
  EXPECT_FALSE(of_others.try_acquire_shared().acquired());
  reader->release();
  EXPECT_TRUE(end_of(writing).acquired());
}

}  // namespace
}  // namespace rowlock::tests
