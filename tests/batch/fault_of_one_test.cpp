// Leases whose statements are shared, and a key that the database fails for: a trigger of the
// application's raises, say.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

const lock_key poison{"job", "!poison"};  // the first in any order of keys

/// Fails for `poison`, or for all.
class poisoned_store final : public passing_store {
 public:
  using passing_store::passing_store;

  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    fail(requests);
    return passing_store::do_acquire(requests, mode);
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    fail(requests);
    return passing_store::do_renew(requests);
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    fail(requests);
    return passing_store::do_release(requests);
  }

  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> keys,
                                                read_mode mode) override {
    if (mode == read_mode::watched && is_poisoned && spoils_looks &&
        std::find(keys.begin(), keys.end(), poison) != keys.end())
      raise();
    return passing_store::do_read(keys, mode);
  }

  /// Set before the poison; runs at each of its faults.
  std::function<void()> at_fault = [] {};
  std::atomic<bool> is_poisoned = false;
  std::atomic<bool> spoils_looks = true;
  std::atomic<bool> is_away = false;
  std::atomic<errc> kind = errc::rejected;

 private:
  template <class Request>
  void fail(std::span<const Request> requests) {
    if (is_away) throw error{errc::unavailable, "the database is away: wait"};
    const bool is_requested = std::any_of(requests.begin(), requests.end(),
                                          [](const Request& each) { return each.key == poison; });
    if (is_poisoned && is_requested) raise();
  }
  [[noreturn]] void raise() {
    at_fault();
    throw error{kind, "a trigger raised: look at it"};
  }
};

class FaultOfOne : public testing::Test {
 protected:
  static lock_key good(int i) { return {"job", std::to_string(i)}; }
  /// Eight good ones, and then the poison.
  static std::vector<lease> all(lock_table& locks) {
    std::vector<lease> held;
    for (int i = 0; i < 8; ++i) held.push_back(*locks.try_acquire(good(i)));
    held.push_back(*locks.try_acquire(poison));
    return held;
  }

  using waits = std::vector<std::future<outcome<lease>>>;

  /// Returns once all were refused and have read, so that each tries again only after a read.
  waits wait_for_all(const std::vector<lease>& held) {
    waits waiting;
    for (const auto& each : held) {
      waiting.push_back(std::async(std::launch::async, [this, key = each.key()] {
        return ours_.try_acquire(key, {.wait = wait_forever()});
      }));
    }
    rows_.await_answers("acquire", held.size());
    rows_.await_one_more(*time_, "watch");
    return waiting;
  }
  void expect_grants_but_of_the_poison(waits& waiting) {
    for (auto& each : waiting) {
      await_answer(each, [&] { time_->advance(20ms); });
    }
    EXPECT_THROW((void)waiting.back().get(), error);
    waiting.pop_back();
    for (auto& each : waiting) EXPECT_TRUE(each.get().acquired());
  }

  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  poisoned_store poisoned_{rows_};
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .time = time_}};
  lock_table ours_{poisoned_, {.ttl = 30s, .batching = {.max_batch = 1}, .time = time_}};
};

TEST_F(FaultOfOne, DoesNotKeepOthersFromBeingRenewed) {
  const auto held = all(ours_);
  poisoned_.is_poisoned = true;
  time_->advance(10s);
  for (std::size_t i = 0; i < 8; ++i) {
    await_that([&] { return held[i].valid_until() >= time_->now() + 29s; });
  }
  EXPECT_LT(held.back().valid_until(), time_->now() + 20s);
  poisoned_.is_poisoned = false;  // or the table would try for a while to release that key
}

TEST_F(FaultOfOne, RenewsNoLeaseThatEndsMeanwhile) {
  auto held = all(ours_);
  poisoned_.at_fault = [&held, is_first = true]() mutable {
    if (std::exchange(is_first, false)) held[0].release();
  };
  poisoned_.is_poisoned = true;
  time_->advance(10s);
  for (std::size_t i = 1; i < 8; ++i) {
    await_that([&] { return held[i].valid_until() >= time_->now() + 29s; });
  }
  const auto renewed = rows_.batches("renew");
  EXPECT_EQ(std::accumulate(renewed.begin(), renewed.end(), std::size_t{0}), 7);
  poisoned_.is_poisoned = false;
}

TEST_F(FaultOfOne, DoesNotKeepOthersFromBeingReleasedLater) {
  auto held = all(ours_);
  poisoned_.is_away = true;
  for (auto& each : held) EXPECT_EQ(each.release(), release_result::deferred);
  poisoned_.is_poisoned = true;
  poisoned_.is_away = false;
  // Four, then two, and two alone.
  rows_.await_moving(*time_, "release", 4);
  await_that([&] { return rows_.rows().list().size() <= 1; });
  EXPECT_EQ(rows_.rows().list().front().key, poison);
  EXPECT_TRUE(rows_.rows().list().front().is_live()) << "it did not just run out";
  poisoned_.is_poisoned = false;
}

TEST_F(FaultOfOne, IsThrownByWhoWaitsForThatKeyOnly) {
  auto held = all(theirs_);
  auto waiting = wait_for_all(held);
  poisoned_.is_poisoned = true;
  for (auto& each : held) each.release();
  expect_grants_but_of_the_poison(waiting);
}

TEST_F(FaultOfOne, ThatTakesLongTakesNoGrantFromOthersWhoWait) {
  auto held = all(theirs_);
  auto waiting = wait_for_all(held);
  poisoned_.at_fault = [this] { time_->advance(20s); };
  poisoned_.spoils_looks = false;
  poisoned_.is_poisoned = true;
  for (auto& each : held) each.release();
  expect_grants_but_of_the_poison(waiting);
}

TEST_F(FaultOfOne, ThatMayPassKeepsNobodyFromAGrantAndIsWaitedThrough) {
  auto held = all(theirs_);
  auto waiting = wait_for_all(held);
  poisoned_.kind = errc::unavailable;
  poisoned_.is_poisoned = true;
  held.back().release();
  rows_.await_one_more(*time_, "watch");
  for (auto& each : held) each.release();
  for (std::size_t i = 0; i < 8; ++i) {
    await_answer(waiting[i], [&] { time_->advance(20ms); });
    EXPECT_TRUE(waiting[i].get().acquired());
  }
  EXPECT_NE(waiting.back().wait_for(0s), std::future_status::ready);
  poisoned_.is_poisoned = false;
  await_answer(waiting.back(), [&] { time_->advance(20ms); });
  EXPECT_TRUE(waiting.back().get().acquired());
}

TEST_F(FaultOfOne, OfALookIsThrownByWhoWaitsForThatKeyOnly) {
  const auto held = all(theirs_);
  std::stop_source stop;
  poisoned_.is_poisoned = true;
  std::vector<std::future<outcome<lease>>> waiting;
  for (const auto& each : held) {
    waiting.push_back(std::async(std::launch::async, [this, &stop, key = each.key()] {
      return ours_.try_acquire(key, {.wait = wait_until_stopped(stop.get_token())});
    }));
  }
  await_answer(waiting.back(), [&] { time_->advance(20ms); });
  EXPECT_THROW((void)waiting.back().get(), error);
  waiting.pop_back();
  for (auto& each : waiting) EXPECT_NE(each.wait_for(0s), std::future_status::ready);
  stop.request_stop();
  for (auto& each : waiting) EXPECT_EQ(each.get().refusal().reason, refusal_reason::stopped);
}

}  // namespace
}  // namespace rowlock::tests
