// Observations of the transactions of a process.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/caught_error.hpp"
#include "support/forked_child.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class keeping_observer final : public observer {
 public:
  void transaction(const transaction_event& event) override {
    const std::scoped_lock lock{mutex_};
    events_.push_back(event);
  }
  [[nodiscard]] std::vector<transaction_event> events() const {
    const std::scoped_lock lock{mutex_};
    return events_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<transaction_event> events_;  // guarded by mutex_
};

std::vector<transaction_event> events_of(const std::function<void()>& work) {
  const auto heard = std::make_shared<keeping_observer>();
  {
    const transaction_observation observing{heard};
    work();
  }
  return heard->events();
}

/// So that a time that is measured is not zero.
void let_a_moment_pass() {
  int checks = 0;
  await_that([&] { return ++checks == 2; });
}

TEST(TransactionObservation, OfNoObserverIsMisuse) {
  EXPECT_EQ(error_of([] { const transaction_observation none{nullptr}; }).kind, errc::misuse);
}

TEST(TransactionObservation, HasEachTryOfRetryAndThatItGaveUp) {
  const auto events = events_of([] {
    EXPECT_EQ(retry({.attempts = 3, .first_pause = 1ms}, [] { return commit_result::stale; }),
              commit_result::stale);
  });
  ASSERT_EQ(events.size(), 4U);
  for (unsigned attempt = 1; attempt <= 3; ++attempt) {
    const auto& event = events[attempt - 1];
    EXPECT_EQ(event.work, transaction_work::retry);
    EXPECT_EQ(event.attempt, attempt);
    EXPECT_EQ(event.result, transaction_result::conflict);
  }
  EXPECT_EQ(events[3].attempt, 3U);
  EXPECT_EQ(events[3].result, transaction_result::refused);
}

TEST(TransactionObservation, HasNothingOfARetryThatSucceedsAtOnce) {
  EXPECT_TRUE(events_of([] {
                (void)retry({.attempts = 3}, [] { return commit_result::committed; });
              }).empty());
}

TEST(TransactionObservation, HasWorkThatRollsBackQuietly) {
  memory_store store;
  const auto events = events_of([&] {
    (void)with_row_lock<memory_transaction>(store, {"job", "a"},
                                            [](memory_transaction& work) { work.abort(); });
  });
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].result, transaction_result::rolled_back);
}

TEST(TransactionObservation, HasTheTimeThatARowLockWaited) {
  memory_store store;
  memory_transaction rival{store};
  ASSERT_TRUE(lock_rows(rival, lock_key{"job", "a"}, no_wait()).acquired());
  const auto events = events_of([&] {
    memory_transaction waiting{store};
    (void)lock_rows(waiting, lock_key{"job", "a"}, 20ms);
  });
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].refusal->reason, refusal_reason::timed_out);
  EXPECT_NE(events[0].took, 0us);
}

TEST(TransactionObservation, HasTheTimeSinceTheGrantAtTheEndOfARowLock) {
  memory_store store;
  const auto work = [](memory_transaction&) { let_a_moment_pass(); };
  const auto events = events_of([&] {
    (void)with_row_lock<memory_transaction>(store, {"job", "a"}, work);
    (void)with_optimistic_commit<memory_transaction>(store, {"job", "a"}, work);
  });
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].held_for, 0us);
  EXPECT_EQ(events[1].result, transaction_result::committed);
  EXPECT_NE(events[1].held_for, 0us);
  EXPECT_EQ(events[2].held_for, 0us);
  EXPECT_EQ(events[3].held_for, 0us);
}

TEST(TransactionObservation, SharesTheTimeOfARowLockBetweenTheWaitAndTheHold) {
  memory_store store;
  auto rival = std::make_unique<memory_transaction>(store);
  ASSERT_TRUE(lock_rows(*rival, lock_key{"job", "a"}, no_wait()).acquired());
  const auto events = events_of([&] {
    const auto ended = std::async(std::launch::async, [&] {
      let_a_moment_pass();
      rival.reset();
    });
    (void)with_row_lock<memory_transaction>(store, lock_key{"job", "a"}, patience,
                                            [](memory_transaction&) { let_a_moment_pass(); });
  });
  ASSERT_EQ(events.size(), 2U);
  const auto rest = events[1].took - events[0].took - events[1].held_for;
  EXPECT_LE(std::chrono::abs(rest), 2us) << "each is rounded to microseconds";
}

TEST(TransactionObservation, MayEndInItsOwnEvent) {
  class ending_observer final : public observer {
   public:
    void transaction(const transaction_event& /*event*/) override { observing.reset(); }
    std::unique_ptr<transaction_observation> observing;
  };
  const auto ending = std::make_shared<ending_observer>();
  ending->observing = std::make_unique<transaction_observation>(ending);
  memory_store store;
  await_that(
      [&] { return ending.use_count() == 1; },
      [&] {
        (void)with_row_lock<memory_transaction>(store, {"job", "a"}, [](memory_transaction&) {});
      });
}

// Its thread is not there, and its mutex may be locked by one that is not there either.
TEST(TransactionObservation, OfTheParentIsNotThatOfAChild) {
  const auto heard = std::make_shared<keeping_observer>();
  const transaction_observation observing{heard};
  const auto complaints = complaints_of_child([&](std::vector<std::string>& wrong) {
    const auto lock = [] {
      memory_store store;
      (void)with_row_lock<memory_transaction>(store, {"job", "a"}, [](memory_transaction&) {});
    };
    lock();
    if (events_of(lock).size() != 2) wrong.emplace_back("its own observation got no events");
  });
  EXPECT_EQ(complaints, std::vector<std::string>{});
  EXPECT_TRUE(heard->events().empty());
}

}  // namespace
}  // namespace rowlock::tests
