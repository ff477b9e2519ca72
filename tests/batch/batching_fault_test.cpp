// What becomes of calls that share a statement when it fails.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "batch/batching.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock::tests {
namespace {

/// From a moment on another transaction keeps the rows that are requested alone.
class busy_store final : public passing_store {
 public:
  using passing_store::passing_store;

  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    if (is_busy && requests.size() == 1) return {{.status = acquire_status::busy}};
    return passing_store::do_acquire(requests, mode);
  }

  std::atomic<bool> is_busy = false;
};

class BatchingFault : public Batching {
 protected:
  /// Two that will share a statement, once the first one ends.
  struct two_calls {
    std::future<answers> first;
    std::future<answers> one;
    std::future<answers> other;
  };
  two_calls start_two() {
    two_calls calls;
    calls.first = hold_up();
    calls.one = start({request_for("one")});
    calls.other = start({request_for("other")});
    await_waiting(2);
    return calls;
  }
  static void expect_doubt(std::future<answers>& answer) {
    try {
      answer.get();
      FAIL() << "it is known";
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.kind(), errc::outcome_unknown);
    }
  }
  [[nodiscard]] bool is_shared() { return rows_.batches("acquire").back() > 1; }
};

TEST_F(BatchingFault, WhatOneOfThemMayNotAskFailsAtOnceAndForItAlone) {
  auto first = hold_up();
  auto good = start({request_for("good")});
  auto neighbour = start({request_for("neighbour")});
  await_waiting(2);
  EXPECT_THROW(acquire(request_for(std::string(256, 'x'))), error);
  first_.open();
  EXPECT_EQ(good.get().front().status, acquire_status::granted);
  EXPECT_EQ(neighbour.get().front().status, acquire_status::granted);
}

TEST_F(BatchingFault, AStatementThatFailsForAnUnknownReasonIsMadeAgainForEachAlone) {
  auto first = hold_up();
  auto one = start({request_for("one")});
  auto other = start({request_for("other")});
  await_waiting(2);
  rows_.before("acquire", [this] {
    if (rows_.batches("acquire").back() > 1) throw std::runtime_error{"a trigger"};
  });
  first_.open();
  EXPECT_EQ(one.get().front().status, acquire_status::granted);
  EXPECT_EQ(other.get().front().status, acquire_status::granted);
  EXPECT_EQ(rows_.batches("acquire"), (std::vector<std::size_t>{1, 2, 1, 1}));
}

TEST_F(BatchingFault, AnOutageMeetsEachAloneAndIsOverAfterwards) {
  auto first = hold_up();
  auto one = start({request_for("one")});
  auto other = start({request_for("other")});
  await_waiting(2);
  rows_.before("acquire", [] { throw error{errc::unavailable, "away"}; });
  first_.open();
  EXPECT_THROW(one.get(), error);
  EXPECT_THROW(other.get(), error);
  EXPECT_EQ(rows_.batches("acquire"), (std::vector<std::size_t>{1, 2, 1, 1}));
  rows_.before("acquire", {});
  EXPECT_EQ(acquire(request_for("one")).status, acquire_status::granted);
}

TEST_F(BatchingFault, AKeyThatEndsTheConnectionHurtsNobodyElse) {
  auto first = hold_up();
  auto one = start({request_for("one")});
  auto other = start({request_for("other")});
  await_waiting(2);
  rows_.after("acquire", [this] {
    if (rows_.batches("acquire").back() > 1) throw error{errc::outcome_unknown, "cut off"};
  });
  first_.open();
  EXPECT_EQ(one.get().front().status, acquire_status::granted);
  EXPECT_EQ(other.get().front().status, acquire_status::granted);
}

TEST_F(BatchingFault, AReleaseInDoubtIsToldToAllAndNotMadeAgain) {
  std::vector<acquire_request> held;
  std::vector<acquire_answer> granted;
  for (const auto* id : {"a", "b", "c"}) {
    held.push_back(request_for(id));
    granted.push_back(acquire(held.back()));
  }
  rows_.before("release", [this, is_first = std::make_shared<std::atomic<bool>>(true)] {
    if (is_first->exchange(false)) first_.pass();
  });
  rows_.after("release", [is_first = std::make_shared<std::atomic<bool>>(true)] {
    if (!is_first->exchange(false)) throw error{errc::outcome_unknown, "cut off"};
  });
  const auto releasing = [&](std::size_t i) {
    return std::async(std::launch::async, [&, i] {
      return grouped_->release(std::array{giving_back(held[i], granted[i])}).front();
    });
  };
  auto first = releasing(0);
  rows_.await("release", 1);
  auto one = releasing(1);
  auto other = releasing(2);
  await_waiting(2);
  first_.open();
  EXPECT_EQ(first.get(), change_answer::done);
  EXPECT_THROW(one.get(), error);
  EXPECT_THROW(other.get(), error);
  EXPECT_EQ(rows_.batches("release"), (std::vector<std::size_t>{1, 2}));
}

TEST_F(BatchingFault, AnAnswerThatGotLostIsAskedForAgainByEach) {
  lock_table locks{*grouped_, {.ttl = 1h, .batching = {.max_batch = 1}, .time = time_}};
  std::atomic<int> calls{0};
  rows_.before("acquire", [&] {
    if (++calls == 1) first_.pass();
  });
  rows_.after("acquire", [&, is_first = std::make_shared<std::atomic<bool>>(true)] {
    if (calls == 2 && is_first->exchange(false)) throw error{errc::outcome_unknown, "cut off"};
  });
  const auto acquiring = [&](const std::string& id) {
    return std::async(std::launch::async, [&, id] {
      const auto attempt = locks.try_acquire({"job", id});
      return attempt.acquired();
    });
  };
  auto first = acquiring("first");
  rows_.await("acquire", 1);
  auto one = acquiring("one");
  auto other = acquiring("other");
  await_waiting(2);
  first_.open();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(one.get());
  EXPECT_TRUE(other.get());
}

TEST_F(BatchingFault, ADoubtThatAnOutageLeavesStaysADoubt) {
  auto calls = start_two();
  rows_.before("acquire", [this] {
    if (!is_shared()) throw error{errc::unavailable, "away"};
  });
  rows_.after("acquire", [this] {
    if (is_shared()) throw error{errc::outcome_unknown, "cut off"};
  });
  first_.open();
  expect_doubt(calls.one);
  expect_doubt(calls.other);
}

// A statement whose commit is under way still keeps the rows busy.
TEST_F(BatchingFault, ADoubtAboutARowThatIsBusyStaysADoubt) {
  busy_store busy{rows_};
  grouped_.emplace(busy, batching_options{.in_flight = 1});
  auto calls = start_two();
  rows_.before("acquire", [] { throw error{errc::outcome_unknown, "cut off"}; });
  busy.is_busy = true;
  first_.open();
  expect_doubt(calls.one);
  expect_doubt(calls.other);
}

TEST_F(BatchingFault, WhatWasNotMadeIsNoDoubt) {
  busy_store busy{rows_};
  grouped_.emplace(busy, batching_options{.in_flight = 1});
  auto calls = start_two();
  rows_.before("acquire", [] { throw error{errc::unavailable, "away"}; });
  busy.is_busy = true;
  first_.open();
  EXPECT_EQ(calls.one.get().front().status, acquire_status::busy);
  EXPECT_EQ(calls.other.get().front().status, acquire_status::busy);
}

}  // namespace
}  // namespace rowlock::tests
