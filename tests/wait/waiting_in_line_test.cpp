// Doubts and faults of waiters, and grants that they are notified of.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "rowlock/error.hpp"
#include "support/caught_error.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"
#include "wait/outage.hpp"
#include "wait/wait_loop.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

using detail::wait_queue;
using detail::wait_result;

class WaitingInLine : public testing::Test {
 protected:
  struct one_in_line {
    std::shared_ptr<detail::waiter> place;
    std::future<wait_result> end;
  };

  void TearDown() override {
    queue_.stop();
    loop_.close();
  }

  static acquire_request wanted(const lock_key& key) {
    return {.key = key, .owner = make_owner_id(), .holder = "ours", .ttl = 24h};
  }
  static acquire_request wanted_once(const lock_key& key) {
    auto once = wanted(key);
    once.unless_done = true;
    return once;
  }
  static retry_policy every(std::chrono::milliseconds pause) {
    return {.first_pause = pause, .longest_pause = pause, .jitter = false};
  }
  static std::exception_ptr fault(errc kind) {
    return std::make_exception_ptr(error{kind, "a test"});
  }
  static wait_queue::try_result lost_answer() { return {.fault = fault(errc::outcome_unknown)}; }
  wait_queue::try_result was_held() const {
    return {.refused = refusal{.reason = refusal_reason::held, .key = key_, .remaining = 24h}};
  }

  one_in_line join(acquire_request wanted, const retry_policy& policy,
                   const wait_queue::try_result& first) {
    loop_.start();
    const auto caught = std::make_shared<std::promise<wait_result>>();
    auto place = queue_.join(std::move(wanted), policy, first,
                             [caught](wait_result how) { caught->set_value(std::move(how)); });
    return {std::move(place), caught->get_future()};
  }
  static wait_result end_of(one_in_line& waiting) {
    if (waiting.end.wait_for(patience) == std::future_status::ready) return waiting.end.get();
    ADD_FAILURE() << "its wait has not ended";
    return {};
  }
  static std::optional<errc> fault_of(one_in_line& waiting) {
    const auto end = end_of(waiting);
    if (end.fault == nullptr) return std::nullopt;
    return kind_thrown_by([&] { std::rethrow_exception(end.fault); });
  }
  /// Until the next attempt has begun.
  void await_attempt() {
    rows_.await_moving(*time_, "acquire", rows_.batches("acquire").size() + 1);
  }
  acquire_answer grant(const acquire_request& request) {
    return rows_.rows().acquire(std::array{request}).front();
  }

  const lock_key key_{"job", "a"};
  const lock_key other_key_{"job", "b"};
  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  detail::outage outage_;
  detail::statement_batcher batcher_{rows_};
  wait_queue queue_{time_,
                    {.return_grant = [](const acquire_request&, version) {},
                     .return_if_granted = [](const acquire_request&, version) {}},
                    outage_};
  detail::wait_loop loop_{
      queue_, batcher_, time_, outage_,
      [](const lock_key&, std::size_t, const std::exception_ptr&, boot_clock::duration) {}};
};

TEST_F(WaitingInLine, TellsOneInDoubtThatTheWorkIsDone) {
  const auto done = wanted(key_);
  const auto by = grant(done).version.value();
  rows_.rows().release(
      std::array{release_request{.key = key_, .owner = done.owner, .version = by, .done_for = 1h}});
  rows_.before("acquire", [this] {
    if (rows_.batches("acquire").size() > 1) throw error{errc::rejected, "tried without end"};
  });
  auto waiting = join(wanted_once(key_), every(100ms), lost_answer());
  await_attempt();
  const auto end = end_of(waiting);
  ASSERT_TRUE(end.refused);
  EXPECT_EQ(end.refused->reason, refusal_reason::already_done);
}

TEST_F(WaitingInLine, AsksForEachOneInDoubtInTurn) {
  const auto granted = wanted(key_);
  ASSERT_EQ(grant(granted).status, acquire_status::granted);
  auto first = join(granted, every(100ms), lost_answer());
  auto second = join(wanted(key_), every(100ms), lost_answer());
  await_attempt();
  rows_.await("acquire", 2);  // for the other one, and the clock stands still
  EXPECT_TRUE(end_of(first).granted);
  EXPECT_TRUE(queue_.leave(*second.place));
}

TEST_F(WaitingInLine, TellsADoubtWhateverTheNextFaultIs) {
  rows_.before("acquire", [] { throw error{errc::rejected, "no privilege"}; });
  auto waiting = join(wanted(key_), every(100ms), lost_answer());
  await_attempt();
  EXPECT_EQ(fault_of(waiting), errc::outcome_unknown);
}

TEST_F(WaitingInLine, TellsADoubtWhateverTheFaultOfALookIs) {
  rows_.before("watch", [] { throw error{errc::rejected, "no privilege"}; });
  auto in_doubt = join(wanted(key_), every(24h), lost_answer());
  auto other = join(wanted(key_), every(100ms), was_held());
  rows_.await_moving(*time_, "watch", 1);
  EXPECT_EQ(fault_of(in_doubt), errc::outcome_unknown);
  EXPECT_EQ(fault_of(other), errc::rejected);
}

TEST_F(WaitingInLine, MakesALastTryThoughAGrantIsHeardOf) {
  rows_.let_listen();
  ASSERT_EQ(grant(wanted(key_)).status, acquire_status::granted);
  auto waiting = join(wanted(key_), every(24h), was_held());
  rows_.await("watch", 1);
  gate answer;
  rows_.before("acquire", [&answer] { answer.pass(); });
  auto beside = join(wanted(other_key_), every(24h), {});
  answer.await_visitor();
  EXPECT_FALSE(queue_.leave_after_last_try(*waiting.place));
  rows_.listener().taken(key_, {.lease = 1h, .watched_for = 10s});
  answer.open();
  rows_.await("acquire", 2);
  const auto end = end_of(waiting);
  ASSERT_TRUE(end.refused);
  EXPECT_EQ(end.refused->reason, refusal_reason::timed_out);
  EXPECT_TRUE(end_of(beside).granted);
}

}  // namespace
}  // namespace rowlock::tests
