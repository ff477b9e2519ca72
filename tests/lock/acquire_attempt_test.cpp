// How a lock_table acquires a lease from its store.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"
#include "support/forked_child.hpp"
#include "support/watched_store.hpp"

namespace rowlock::tests {
namespace {

/// Counts the listeners.
class listened_store final : public passing_store {
 public:
  using passing_store::passing_store;

  [[nodiscard]] int subscriptions() const noexcept { return subscriptions_; }

  std::unique_ptr<subscription> do_listen(release_listener& listener) override {
    ++subscriptions_;
    return passing_store::do_listen(listener);
  }

 private:
  int subscriptions_ = 0;
};

class AcquireAttempt : public lease_state_test {
 protected:
  static void limit_threads(rlim_t most, std::vector<std::string>& said) {
    rlimit limit{};
    getrlimit(RLIMIT_NPROC, &limit);
    limit.rlim_cur = most;
    // Root has no limit, so not as root.
    if (setrlimit(RLIMIT_NPROC, &limit) != 0 || (geteuid() == 0 && setuid(65'533) != 0)) {
      said.emplace_back("no limit could be set");
    }
  }
};

TEST_F(AcquireAttempt, TheDeadlineCountsFromBeforeTheQuestion) {
  rows_.before("acquire", [this] { time_->advance(5s); });
  EXPECT_EQ(acquire("a").remaining(), 24s);
}

TEST_F(AcquireAttempt, AGrantThatComesAfterItsDeadlineIsGivenBackAndNotHandedOut) {
  rows_.after("acquire", [this] { time_->advance(29s); });
  try {
    (void)locks_->try_acquire({"job", "a"});
    ADD_FAILURE() << "a slow database is not contention";
  } catch (const error& fault) {
    EXPECT_EQ(fault.kind(), errc::unavailable);
  }
  rows_.await("release", 1);
}

TEST_F(AcquireAttempt, WhereNoThreadCanBeStartedNothingIsAskedFor) {
  const auto wrong = complaints_of_child([this](std::vector<std::string>& said) {
    limit_threads(0, said);
    memory_store rows{time_};
    watched_store watched{rows};
    lock_table locks{watched, {.time = time_}};
    for (int i = 0; i < 2; ++i) {
      try {
        (void)locks.try_acquire({"job", "a"});
        said.emplace_back("it was granted");
      } catch (const error& thrown) {
        if (thrown.kind() != errc::unavailable) said.emplace_back(thrown.what());
      }
    }
    if (!rows.list().empty()) said.emplace_back("the row is taken");
  });
  EXPECT_EQ(wrong, std::vector<std::string>{});
}

TEST_F(AcquireAttempt, WhereNoThreadCanBeStartedToWaitWithTheAttemptFailsAndALaterOneWaits) {
  const auto wrong = complaints_of_child([this](std::vector<std::string>& said) {
    memory_store rows{time_};
    watched_store watched{rows};
    listened_store listened{watched};
    lock_table locks{listened, {.time = time_}};
    std::optional<lease> held{*locks.try_acquire({"job", "a"})};  // with all threads but that one
    limit_threads(0, said);
    const acquire_options waiting{.wait = wait_for(1s)};
    for (int i = 0; i < 2; ++i) {
      try {
        (void)locks.try_acquire({"job", "a"}, waiting);
        said.emplace_back("it did not fail");
      } catch (const error& thrown) {
        if (thrown.kind() != errc::unavailable) said.emplace_back(thrown.what());
      }
    }
    if (listened.subscriptions() != 0) said.emplace_back("a thread listens");
    limit_threads(1000, said);
    std::thread releasing{[&] {
      watched.await_refusals(4);  // two failed, the third has tried, and read
      held.reset();
    }};
    if (!locks.try_acquire({"job", "a"}, waiting).acquired()) said.emplace_back("not acquired");
    releasing.join();
    if (listened.subscriptions() != 1) said.emplace_back("not listened to once");
  });
  EXPECT_EQ(wrong, std::vector<std::string>{});
}

TEST_F(AcquireAttempt, AnAnswerThatGotLostIsAskedForAgainAsTheSameAttempt) {
  rows_.after("acquire", [this] {
    if (rows_.batches("acquire").size() == 1)
      throw error{errc::outcome_unknown, "the connection broke"};
  });
  const lease held = acquire("a");
  EXPECT_TRUE(held.is_valid());
  EXPECT_EQ(rows_.rows().list().front().version, held.token());
  EXPECT_EQ(rows_.rows().list().front().expiry_count, 0);
}

TEST_F(AcquireAttempt, ADoubtThatCannotBeResolvedStaysADoubt) {
  rows_.after("acquire", [] { throw error{errc::outcome_unknown, "the connection broke"}; });
  rows_.before("acquire", [this] {
    if (rows_.batches("acquire").size() == 2) throw error{errc::unavailable, "no answer"};
  });
  try {
    (void)locks_->try_acquire({"job", "a"});
    FAIL() << "nothing was thrown";
  } catch (const error& fault) {
    EXPECT_EQ(fault.kind(), errc::outcome_unknown);
  }
}

TEST_F(AcquireAttempt, AChildOfForkDoesNotEvenAskTheStore) {
  const auto wrong = complaints_of_child([this](std::vector<std::string>& said) {
    rows_.before("acquire", [&] { said.emplace_back("it tried"); });
    try {
      (void)locks_->try_acquire({"job", "a"});
    } catch (const error& thrown) {
      if (thrown.kind() != errc::misuse) said.emplace_back(thrown.what());
    }
  });
  EXPECT_EQ(wrong, std::vector<std::string>{});
}

TEST_F(AcquireAttempt, AFaultOfTheDatabaseIsThrownAndNeverAnswersHeld) {
  rows_.before("acquire", [] { throw error{errc::unavailable, "the server is down"}; });
  try {
    (void)locks_->try_acquire(
        {"job", "a"}, {.wait = retry_policy{.give_up_after = 1h, .through_outages = false}});
    FAIL() << "nothing was thrown";
  } catch (const error& fault) {
    EXPECT_EQ(fault.kind(), errc::unavailable);
  }
}

TEST_F(AcquireAttempt, AWaiterLooksAgainWhenTheHoldersLeaseHasRunOut) {
  lock_table holders{rows_, {.ttl = 5s, .renew = false, .time = time_}};
  const lease held = *holders.try_acquire({"job", "a"});
  std::optional<outcome<lease>> acquired;
  std::thread waiter{[&] {
    retry_policy wait = wait_forever();
    wait.first_pause = wait.longest_pause = 1h;
    acquired.emplace(locks_->try_acquire({"job", "a"}, {.wait = wait}));
  }};
  rows_.await("acquire", 2);
  rows_.await_moving(*time_, "acquire", 3);
  waiter.join();
  EXPECT_TRUE((*acquired)->is_valid());
}

TEST_F(AcquireAttempt, WhatCannotBeMeantIsMisuse) {
  const auto misuse = [](const auto& call) {
    try {
      call();
    } catch (const error& fault) {
      return fault.kind() == errc::misuse;
    }
    return false;
  };
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 0s}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = -1s}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 24h + 1ms}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 1s, .margin = 1s}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 29ms, .margin = 0ms}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.margin = -1ms}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 30s, .margin = 31s}); }));
  for (const auto renew_for : {0ms, -1ms, 29'999ms, std::chrono::milliseconds{365 * 24h} + 1ms}) {
    EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.ttl = 30s, .renew_for = renew_for}); }));
    EXPECT_TRUE(misuse([&] { (void)locks_->try_acquire({"job", "a"}, {.renew_for = renew_for}); }));
  }
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.holder = std::string(129, 'x')}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.holder = "\xff"}); }));
  EXPECT_TRUE(misuse([&] { lock_table locks(rows_, {.time = nullptr}); }));
  EXPECT_TRUE(misuse([&] { acquire("a", 1s); }));
  EXPECT_TRUE(misuse([&] { acquire("a", 25h); }));
  EXPECT_TRUE(misuse([&] { acquire(""); }));
  EXPECT_TRUE(rows_.batches("acquire").empty());
}

}  // namespace
}  // namespace rowlock::tests
