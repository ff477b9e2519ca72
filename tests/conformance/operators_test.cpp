// The functions for the person on call, on every store.
#include "rowlock/operators.hpp"

#include <string>

#include "conformance/store_test.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

class Operators : public store_test {};

TEST_P(Operators, TakeAwayWhatTheyWereShownAndNothingElse) {
  lock_table locks{*rows_, {.ttl = 1h, .holder = "ours"}};
  const auto held = locks.try_acquire(key_);
  const auto refused = force_release(*rows_, key_, version{held->token().number - 1}, "why", "ann");
  EXPECT_EQ(refused.answer, force_answer::stale);
  EXPECT_EQ(refused.now->holder, "ours");
  const auto taken = force_release(*rows_, key_, show(*rows_, key_)->version, "why", "ann");
  EXPECT_EQ(taken.answer, force_answer::released);
  EXPECT_EQ(taken.now->force_reason, "why (by ann)");
  EXPECT_FALSE(taken.now->owned);
}

TEST_P(Operators, PurgeAllIdleRowsInSmallBatches) {
  for (int number = 0; number < 5; ++number) touch({"job", std::to_string(number)});
  for (int number = 0; number < 5; ++number) {
    bench_->leave_behind_the_clock({"job", std::to_string(number)});
  }
  const auto purged = purge(*rows_, 1h, 2);
  EXPECT_EQ(purged.purged, 5U);
  EXPECT_TRUE(purged.is_complete);
}

INSTANTIATE_TEST_SUITE_P(Stores, Operators, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
