// How calls that meet share statements.
#include "batch/batching.hpp"

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/batching_store.hpp"
#include "support/forked_child.hpp"

namespace rowlock::tests {
namespace {

TEST_F(Batching, OneThatMeetsNobodyHasAStatementOfItsOwnAtOnce) {
  EXPECT_EQ(acquire(request_for("a")).status, acquire_status::granted);
  EXPECT_EQ(acquire(request_for("b")).status, acquire_status::granted);
  EXPECT_EQ(rows_.batches("acquire"), (std::vector<std::size_t>{1, 1}));
}

TEST_F(Batching, ThoseThatMeetShareTheNextStatementAndEachHasItsOwnAnswers) {
  const auto theirs = request_for("theirs");
  rows_.rows().acquire(std::array{theirs});
  auto first = hold_up();
  std::vector<std::future<answers>> met;
  met.push_back(start({request_for("a")}));
  met.push_back(start({request_for("theirs"), request_for("b")}));
  auto at_a_version = request_for("a version");
  at_a_version.expected = version{7};
  met.push_back(start({at_a_version}));
  await_waiting(3);
  first_.open();
  EXPECT_EQ(first.get().front().status, acquire_status::granted);
  EXPECT_EQ(met[0].get().front().status, acquire_status::granted);
  const auto two = met[1].get();
  ASSERT_EQ(two.size(), 2);
  EXPECT_EQ(two[0].status, acquire_status::held);
  EXPECT_EQ(two[1].status, acquire_status::granted);
  EXPECT_EQ(met[2].get().front().status, acquire_status::stale);
  EXPECT_EQ(rows_.batches("acquire"), (std::vector<std::size_t>{1, 4}));
}

TEST_F(Batching, AtMostOneOfThoseThatMeetForAKeyIsGranted) {
  auto first = hold_up();
  std::vector<std::future<answers>> met;
  for (int i = 0; i < 5; ++i) met.push_back(start({request_for("hot")}));
  await_waiting(5);
  first_.open();
  int granted = 0;
  for (auto& each : met) {
    if (each.get().front().status == acquire_status::granted) ++granted;
  }
  EXPECT_EQ(granted, 1);
  EXPECT_EQ(rows_.batches("acquire").size(), 2);
}

TEST_F(Batching, AStatementHasSoManyRequestsAtMost) {
  regroup({.max_batch = 4, .in_flight = 1});
  auto first = hold_up();
  std::vector<std::future<answers>> met;
  for (int i = 0; i < 9; ++i) met.push_back(start({request_for(std::to_string(i))}));
  await_waiting(9);
  first_.open();
  for (auto& each : met) EXPECT_EQ(each.get().front().status, acquire_status::granted);
  EXPECT_EQ(rows_.batches("acquire"), (std::vector<std::size_t>{1, 4, 4, 1}));
}

TEST_F(Batching, ThoseThatAreNotToShareGoSideBySide) {
  regroup({.max_batch = 1, .in_flight = 3});
  auto first = hold_up();
  EXPECT_EQ(acquire(request_for("other")).status, acquire_status::granted);
  EXPECT_EQ(rows_.batches("acquire"), (std::vector<std::size_t>{1, 1}));
  first_.open();
  first.get();
}

TEST_F(Batching, FewerThanTheStoreSaysGoSideBySide) {
  class from_three final : public passing_store {
   public:
    using passing_store::passing_store;

   private:
    [[nodiscard]] store_limits do_limits() const noexcept override {
      return {.batching_pays_from = 3};
    }
  };
  from_three rows{rows_};
  grouped_.emplace(rows);
  auto first = hold_up();
  auto other = start({request_for("other")});
  bool has_waited = false;
  await_that([&] {
    has_waited = has_waited || grouped_->waiting() > 0;
    return rows_.batches("acquire").size() == 2;
  });
  EXPECT_FALSE(has_waited);
  first_.open();
  first.get();
  other.get();
  grouped_.reset();
}

TEST_F(Batching, AReleaseDoesNotWaitForAcquisitions) {
  regroup({.in_flight = 2});
  const auto held = request_for("held");
  const auto granted = acquire(held);
  auto first = hold_up();
  auto second = start({request_for("second")});
  await_waiting(1);
  EXPECT_EQ(grouped_->release(std::array{giving_back(held, granted)}).front(), change_answer::done);
  EXPECT_EQ(grouped_->waiting(), 1) << "an acquisition took the place that is kept for releases";
  first_.open();
  first.get();
  EXPECT_EQ(second.get().front().status, acquire_status::granted);
}

TEST_F(Batching, ManyThreadsAreAllServedAndExcludeEachOther) {
  regroup({.in_flight = 3});
  std::array<int, 4> inside{};
  std::vector<std::jthread> threads;
  std::atomic<int> turns{0};
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      for (int taken = 0; taken < 100;) {
        const auto place = static_cast<std::size_t>((i + taken) % 4);
        const auto request = request_for(std::to_string(place));
        const auto answer = acquire(request);
        if (answer.status != acquire_status::granted) continue;
        ++inside.at(place);  // a race, if two are in
        ++turns;
        ++taken;
        ASSERT_EQ(grouped_->release(std::array{giving_back(request, answer)}).front(),
                  change_answer::done);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(turns, 1600);
  EXPECT_EQ(inside[0] + inside[1] + inside[2] + inside[3], 1600);
}

TEST_F(Batching, AChildOfForkAsksNothingAndTheParentGoesOn) {
  auto first = hold_up();
  auto second = start({request_for("second")});
  await_waiting(1);
  const auto wrong = complaints_of_child([this](std::vector<std::string>& said) {
    const auto expect_misuse = [&said](const std::string& name, const auto& made) {
      try {
        (void)made();
        said.push_back(name + " did not throw");
      } catch (const error& thrown) {
        if (thrown.kind() != errc::misuse) said.push_back(name + ": " + thrown.what());
      }
    };
    expect_misuse("acquire", [this] { return acquire(request_for("a")); });
    expect_misuse("waiting", [this] { return grouped_->waiting(); });
    grouped_.reset();
  });
  EXPECT_EQ(wrong, std::vector<std::string>{});
  first_.open();
  EXPECT_EQ(first.get().front().status, acquire_status::granted);
  EXPECT_EQ(second.get().front().status, acquire_status::granted);
}

TEST_F(Batching, OptionsThatCannotBeMeantAreMisuse) {
  EXPECT_THROW((batching_store{rows_, {.max_batch = 0}}), error);
  EXPECT_THROW((batching_store{rows_, {.max_batch = 1001}}), error);
  EXPECT_THROW((batching_store{rows_, {.in_flight = 0}}), error);
  EXPECT_THROW((lock_table{rows_, {.batching = {.max_batch = 0}}}), error);
}

}  // namespace
}  // namespace rowlock::tests
