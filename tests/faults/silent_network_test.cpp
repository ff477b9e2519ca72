// A network that says nothing any more: calls end, and a loss is notified while a renewal hangs.
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "faults/proxied_table.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock::tests {
namespace {

/// Knows whether a renewal is under way.
class watched_renewals final : public passing_store {
 public:
  using passing_store::passing_store;

  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    under_way_ = true;
    try {
      auto answers = passing_store::do_renew(requests);
      under_way_ = false;
      return answers;
    } catch (...) {
      under_way_ = false;
      throw;
    }
  }

  [[nodiscard]] bool is_under_way() const { return under_way_; }

 private:
  std::atomic<bool> under_way_{false};
};

class SilentNetwork : public proxied_table {
 protected:
  postgres_options impatient() {
    return {.table = table(),
            .connect_timeout = 2s,
            .tcp_user_timeout = 1s,
            .statement_timeout = 2s,
            .answer_timeout = 2500ms};
  }
  /// A busy machine may exceed the limits.
  void await_grant(store& rows, const lock_key& key) {
    await_that([&] {
      auto answered = acquire_status::held;
      const auto fault = kind_thrown_by([&] { answered = acquire(rows, key).status; });
      return !fault && answered == acquire_status::granted;
    });
  }
};

TEST_F(SilentNetwork, EndsACallUnderWayAndOnesThatConnectWhileItLasts) {
  postgres_store rows{url(), impatient()};
  await_grant(rows, key_);
  proxy_.cut();
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::outcome_unknown);
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::unavailable);
  proxy_.pass();
  await_grant(rows, other_key_);
}

// A network that acknowledges everything: only our own clock shows that it is silent.
TEST_F(SilentNetwork, ThatPretendsToWorkEndsACallUnderWayAndOnesThatConnectWhileItLasts) {
  postgres_store rows{url(), impatient()};
  await_grant(rows, key_);
  proxy_.black_hole();
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::outcome_unknown);
  EXPECT_EQ(error_of([&] { acquire(rows, other_key_); }).kind, errc::unavailable);
  proxy_.pass();
  await_grant(rows, other_key_);
}

// The socket takes a part of it: the rest waits for a peer that reads nothing.
TEST_F(SilentNetwork, EndsACallWhoseStatementIsLargerThanTheSocketTakes) {
  const auto connect_with_a_small_buffer = [this] {
    auto made = std::make_unique<pqxx::connection>(url());
    const int bytes = 4096;
    setsockopt(made->sock(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return made;
  };
  postgres_store rows{connect_with_a_small_buffer, impatient()};
  std::vector<acquire_request> requests;
  for (std::size_t i = 0; i < largest_set; ++i) {
    requests.push_back(request({"job", std::to_string(i) + std::string(100, 'x')}));
  }
  // What prepares the statement is small.
  await_that([&] {
    return !kind_thrown_by(
        [&] { rows.acquire(std::span{requests}.first(2), {acquire_mode::all_or_none}); });
  });
  proxy_.cut();
  EXPECT_EQ(error_of([&] { rows.acquire(requests, {acquire_mode::all_or_none}); }).kind,
            errc::outcome_unknown);
  proxy_.pass();
}

TEST_F(SilentNetwork, WithoutTimeForAnAnswerIsMisuse) {
  auto options = impatient();
  options.answer_timeout = 0ms;
  EXPECT_EQ(error_of([&] { postgres_store{url(), options}; }).kind, errc::misuse);
}

TEST_F(SilentNetwork, TellsTheLossAtTheDeadlineAndNotWhenTheCallEnds) {
  auto options = impatient();
  options.tcp_user_timeout = options.statement_timeout = options.answer_timeout = patience;
  postgres_store rows{url(), options};
  watched_renewals watched{rows};
  const auto time = std::make_shared<manual_time>();
  lock_table locks{watched, {.ttl = 3h, .time = time}};
  const lease held = *locks.try_acquire(key_);
  std::promise<bool> caught;
  const std::stop_callback telling{held.lost(), [&] { caught.set_value(watched.is_under_way()); }};
  proxy_.cut();  // its renewals hang
  time->advance(1h);
  ASSERT_TRUE(comes([&] { return watched.is_under_way(); }));
  time->advance(2h);
  EXPECT_TRUE(caught.get_future().get()) << "the renewal had ended";
  EXPECT_FALSE(held.is_valid());
  EXPECT_TRUE(row_of(key_).owned);
  proxy_.pass();
}

}  // namespace
}  // namespace rowlock::tests
