// A holder that is stopped or killed inside its fenced transaction.
#include <csignal>

#include "faults/commanded_holder_test.hpp"

namespace rowlock::tests {
namespace {

class PausedHolder : public commanded_holder_test {
 protected:
  void take_over() {
    auto taken = locks_.try_acquire(key_, {.wait = wait_for(patience)});
    ASSERT_TRUE(taken.acquired());
    successor_.emplace(*std::move(taken));
  }

  /// More than a busy machine stops the holder before it fences.
  static constexpr auto ttl = 6s;

  postgres_store rows_{postgres_url(), {.table = table()}};
  lock_table locks_{rows_, {.ttl = 30s}};
  std::optional<lease> successor_;
};

TEST_F(PausedHolder, InAFencedTransactionKeepsTheKeyNoLongerThanItsIdleLimit) {
  constexpr auto idle_limit = 7500ms;
  const auto holder = start_holder(ttl);
  ASSERT_EQ(command(*holder, "fence " + std::to_string(idle_limit.count())), "fenced");
  holder->send_signal(SIGSTOP);
  take_over();
  holder->send_signal(SIGCONT);
  EXPECT_EQ(command(*holder, "commit").substr(0, 6), "failed");
  EXPECT_EQ(rows_in_journal(), 0);
  EXPECT_EQ(command(*holder, "lease"), "lost 0");
  ASSERT_TRUE(successor_);
  EXPECT_TRUE(successor_->is_valid());
}

TEST_F(PausedHolder, OutsideATransactionCannotFenceAnyMore) {
  const auto holder = start_holder(ttl);
  holder->send_signal(SIGSTOP);
  take_over();
  holder->send_signal(SIGCONT);
  const auto said = command(*holder, "fence 10000");
  EXPECT_EQ(said.substr(0, 6), "failed") << said;
  EXPECT_NE(said.find("lease"), std::string::npos) << said;
  EXPECT_EQ(rows_in_journal(), 0);
}

TEST_F(PausedHolder, KilledInAFencedTransactionCommitsNothingAndLeavesTheKeyWithinItsTtl) {
  const auto holder = start_holder(ttl);
  ASSERT_EQ(command(*holder, "fence 60000"), "fenced");
  holder->send_signal(SIGKILL);
  take_over();
  EXPECT_EQ(rows_in_journal(), 0);
}

}  // namespace
}  // namespace rowlock::tests
