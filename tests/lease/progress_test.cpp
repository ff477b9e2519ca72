// Leases whose work must get on.
#include <gtest/gtest.h>

#include <memory>

#include "lease/observed_leases.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class Progress : public Observer {
 protected:
  lease acquire_stuck(const std::string& id = "a") {
    return *locks_->try_acquire({"job", id}, {.progress_within = 15s});
  }
  void await_renewal_of(const lease& renewed) {
    await_that([&] { return renewed.remaining() == 29s; });
  }
};

TEST_F(Progress, WithoutItALeaseRunsOutAndTheReasonIsTold) {
  const lease held = acquire_stuck();
  time_->advance(10s);
  await_renewal_of(held);
  time_->advance(10s);
  lease other = acquire("other", 3s);  // shows that the renewer goes on
  time_->advance(1s);
  await_that([&] { return other.remaining() == 2s; });
  other.release();
  EXPECT_EQ(held.remaining(), 18s);
  time_->advance(18s);
  await(held.lost());
  const auto event = observer_->await<lost_event>();
  EXPECT_EQ(event.key, held.key());
  EXPECT_EQ(event.reason, loss_reason::no_progress);
}

TEST_F(Progress, KeepsALease) {
  const lease held = acquire_stuck();
  for (int i = 0; i < 6; ++i) {
    time_->advance(10s);
    held.progress();
    await_renewal_of(held);
  }
}

TEST_F(Progress, BeforeTheDeadlineSavesALeaseThatWasStuck) {
  const lease held = acquire_stuck();
  time_->advance(10s);
  await_renewal_of(held);
  time_->advance(20s);
  lease other = acquire("other", 3s);  // shows that the renewer has found the first one stuck
  time_->advance(1s);
  await_that([&] { return other.remaining() == 2s; });
  other.release();
  EXPECT_EQ(held.remaining(), 8s);
  held.progress();
  await_that([&] { return held.remaining() > 20s; }, [&] { time_->advance(20ms); });
  time_->advance(29s);
  await(held.lost());
}

TEST_F(Progress, AfterTheEndDoesNothing) {
  lease held = acquire_stuck();
  held.release();
  held.progress();
  EXPECT_FALSE(held.is_valid());
}

TEST_F(Progress, IsNotNeededWithoutTheOption) {
  const lease held = acquire("a");
  for (int i = 0; i < 6; ++i) {
    time_->advance(10s);
    await_renewal_of(held);
  }
  held.progress();
  EXPECT_TRUE(held.is_valid());
}

TEST_F(Progress, OfALeaseThatRanOutByAFaultIsNotTheReason) {
  const lease held = *locks_->try_acquire({"job", "a"}, {.progress_within = 1h});
  run_out_at_once();
  await(held.lost());
  EXPECT_EQ(observer_->await<lost_event>().reason, loss_reason::ran_out);
}

TEST_F(Progress, IsMadeByAnExtension) {
  const lease held = acquire_stuck();
  time_->advance(10s);
  await_renewal_of(held);
  time_->advance(10s);
  EXPECT_EQ(held.extend(30s), extend_result::extended);
  time_->advance(10s);
  await_renewal_of(held);
}

TEST_F(Progress, OutOfRangeIsMisuse) {
  for (const auto within : {0ms, -1ms, std::chrono::milliseconds{24h * 366}}) {
    EXPECT_TRUE(is_misuse([&] {
      static_cast<void>(locks_->try_acquire({"job", "a"}, {.progress_within = within}));
    }));
    EXPECT_TRUE(is_misuse([&] { lock_table{rows_, {.progress_within = within}}; }));
  }
}

}  // namespace
}  // namespace rowlock::tests
