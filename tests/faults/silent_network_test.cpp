// A network that says nothing any more: calls end in seconds, and losses are told in time.
#include <future>
#include <stop_token>

#include "faults/proxied_table.hpp"
#include "rowlock/boot_clock.hpp"

namespace rowlock::tests {
namespace {

class SilentNetwork : public proxied_table {
 protected:
  postgres_options impatient() {
    return {.table = table(),
            .connect_timeout = 2s,
            .tcp_user_timeout = 1s,
            .statement_timeout = 2s,
            .answer_timeout = 2500ms};
  }
};

TEST_F(SilentNetwork, EndsACallUnderWayAndOnesThatConnectInSeconds) {
  postgres_store rows{url(), impatient()};
  acquire(rows, key_);
  proxy_.cut();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::outcome_unknown);
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 8s);
  proxy_.pass();
  EXPECT_EQ(acquire(rows, other_key_).status, acquire_status::granted);
}

// A network that acknowledges everything: only our own clock can tell.
TEST_F(SilentNetwork, ThatPretendsToWorkEndsACallUnderWayAndOnesThatConnectInSeconds) {
  postgres_store rows{url(), impatient()};
  acquire(rows, key_);
  proxy_.black_hole();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::outcome_unknown);
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 9s);
  proxy_.pass();
  EXPECT_EQ(acquire(rows, other_key_).status, acquire_status::granted);
}

TEST_F(SilentNetwork, WithoutTimeForAnAnswerIsMisuse) {
  auto options = impatient();
  options.answer_timeout = 0ms;
  EXPECT_EQ(error_of([&] { postgres_store{url(), options}; }).kind, errc::misuse);
}

TEST_F(SilentNetwork, TellsTheLossAtTheDeadlineAndNotWhenTheCallEnds) {
  constexpr auto ttl = 900ms;
  constexpr auto margin = 200ms;
  postgres_store rows{url(), impatient()};
  lock_table locks{rows, {.ttl = ttl, .margin = margin}};
  const lease held = *locks.try_acquire(key_);
  std::promise<boot_clock::time_point> told;
  const std::stop_callback telling{held.lost(), [&] { told.set_value(boot_clock::now()); }};
  proxy_.cut();  // its renewals hang
  const auto told_at = told.get_future().get();
  EXPECT_GE(told_at, held.valid_until());
  EXPECT_LT(told_at, held.valid_until() + margin);
  EXPECT_FALSE(held.is_valid());
  EXPECT_TRUE(row_of(key_).owned);
  proxy_.pass();
}

}  // namespace
}  // namespace rowlock::tests
