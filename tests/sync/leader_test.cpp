// Campaigns: which candidate leads, for how long, and what ends it.
#include "rowlock/leader.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "lease/observed_leases.hpp"
#include "rowlock/error.hpp"
#include "support/caught_error.hpp"
#include "support/clock_of_waiters.hpp"

namespace rowlock::tests {
namespace {

class Leader : public Observer {
 protected:
  /// Stopped when the test is over, however that ends.
  class campaign {
   public:
    campaign(std::stop_source stop, std::future<void> ended)
        : stop_{std::move(stop)}, ended_{std::move(ended)} {}
    campaign(campaign&&) = default;
    campaign(const campaign&) = delete;
    campaign& operator=(const campaign&) = delete;
    campaign& operator=(campaign&&) = delete;
    ~campaign() { stop_.request_stop(); }

    void get() { ended_.get(); }
    [[nodiscard]] bool is_over() const { return ended_.wait_for(0s) == std::future_status::ready; }

   private:
    std::stop_source stop_;
    std::future<void> ended_;
  };

  /// In a thread of its own; the clock stands still unless the test moves it.
  campaign candidate(leader_callback callback, leader_options options = {}) {
    auto run = [this, callback = std::move(callback), options] {
      run_while_leader(*locks_, key_, stop_.get_token(), callback, options);
    };
    return {stop_, std::async(std::launch::async, std::move(run))};
  }
  /// The same, one term after the other: each waits until the test ends it or it is over.
  campaign candidate_for_terms() {
    return candidate([this](const lease& term, const std::stop_token& over) {
      {
        const std::scoped_lock lock{mutex_};
        terms_.push_back(term.token());
      }
      began_.notify_all();
      await(over);
    });
  }
  /// Moves the clock until so many terms have begun; the last one.
  version await_term(std::size_t count) {
    const auto has_begun = [&] {
      const std::scoped_lock lock{mutex_};
      return terms_.size() >= count;
    };
    await_that(has_begun, [this] { time_->advance(20ms); });
    const std::scoped_lock lock{mutex_};
    return terms_.back();
  }
  row_state row() { return rows_.rows().read(std::vector{key_}).front().value(); }
  /// Each of the next attempts at the key fails with one of them.
  void fail_with(const std::vector<errc>& faults) {
    rows_.before("acquire", [faults, at = std::make_shared<std::atomic<std::size_t>>(0)] {
      if (*at < faults.size()) throw error{faults[(*at)++], "a test's own fault: wait"};
    });
  }
  std::optional<errc> fault_of(campaign& ended) {
    return kind_thrown_by([&] { ended.get(); });
  }

  std::stop_source stop_;

 private:
  std::mutex mutex_;
  std::condition_variable began_;
  std::vector<version> terms_;  // guarded by mutex_
};

TEST_F(Leader, IsKnownToEverybodyByItsLabelAndTerm) {
  EXPECT_FALSE(leader_of(rows_, key_)) << "no row";
  locks_.emplace(rows_, lock_options{.ttl = 30s, .holder = "10.0.0.7:80", .time = time_});
  auto ended = candidate_for_terms();
  const auto term = await_term(1);
  const auto known = leader_of(rows_, key_);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->holder, "10.0.0.7:80");
  EXPECT_EQ(known->term, term);
  EXPECT_EQ(known->since, row().acquired_at);
  EXPECT_GT(known->remaining, 0s);
  stop_.request_stop();
  ended.get();
  EXPECT_FALSE(leader_of(rows_, key_)) << "the row has no owner";
}

TEST_F(Leader, IsNobodyWhileTheKeyOnlyStaysClosedOrItsLeaseHasRunOut) {
  ASSERT_TRUE(theirs_.with_lock(key_, [] {}, {.hold_at_least = 1h}).kept());
  EXPECT_TRUE(row().is_live());
  EXPECT_FALSE(leader_of(rows_, key_));
  lock_table dying{rows_.rows(), {.ttl = 30s, .renew = false, .time = time_}};
  const auto left = dying.try_acquire({"job", "left"});
  EXPECT_TRUE(leader_of(rows_, {"job", "left"}));
  time_->advance(30s);
  EXPECT_FALSE(leader_of(rows_, {"job", "left"}));
}

TEST_F(Leader, IsToldToStopAndResignsWhenItHas) {
  gate leads;
  gate caught;
  gate has_stopped;
  auto ended = candidate([&](const lease& term, const std::stop_token& over) {
    leads.open();
    await(over);
    EXPECT_TRUE(term.is_valid());
    caught.open();
    has_stopped.pass();
  });
  leads.pass();
  stop_.request_stop();
  caught.pass();
  EXPECT_FALSE(is_free("a")) << "it leads until it has stopped";
  has_stopped.open();
  ended.get();
  EXPECT_TRUE(is_free("a"));
  EXPECT_EQ(row().failure_count, 0);
  EXPECT_EQ(rows_.batches("acquire").size(), 1) << "it campaigns no more";
}

TEST_F(Leader, WaitsForTheOneBeforeAndIsStoppedInItsWaitToo) {
  auto before = theirs_.try_acquire(key_);
  std::atomic<int> terms{0};
  auto ended = candidate([&](const lease&, const std::stop_token&) { ++terms; });
  rows_.await_moving(*time_, "watch", 1);
  EXPECT_FALSE(ended.is_over());
  stop_.request_stop();
  ended.get();
  EXPECT_EQ(terms, 0);
}

TEST_F(Leader, DoesNotBeginWhenItIsStoppedWhileItIsElected) {
  rows_.after("acquire", [this] { stop_.request_stop(); });
  std::atomic<int> terms{0};
  candidate([&](const lease&, const std::stop_token&) { ++terms; }).get();
  EXPECT_EQ(terms, 0);
  EXPECT_TRUE(is_free("a"));
}

TEST_F(Leader, ThatIsDoneHandsOverAtOnce) {
  rows_.let_listen();
  gate leads;
  gate done;
  auto ended = candidate([&](const lease&, const std::stop_token&) {
    leads.open();
    done.pass();
  });
  leads.pass();
  auto next = std::async(std::launch::async,
                         [this] { return theirs_.try_acquire(key_, {.wait = wait_forever()}); });
  done.open();
  const auto led = next.get();  // no clock has moved
  EXPECT_EQ(leader_of(rows_, key_)->holder, "theirs");
  stop_.request_stop();
  ended.get();
}

TEST_F(Leader, ThatIsDoneCampaignsAgainForAGreaterTerm) {
  std::vector<version> terms;
  auto ended = candidate([&](const lease& term, const std::stop_token&) {
    terms.push_back(term.token());
    if (terms.size() == 3) stop_.request_stop();
  });
  await_that([&] { return ended.is_over(); }, [this] { time_->advance(20ms); });
  ended.get();
  ASSERT_EQ(terms.size(), 3U);
  EXPECT_LT(terms[0], terms[1]);
  EXPECT_LT(terms[1], terms[2]);
}

class LeaderThatIsSoonDone : public Leader {
 protected:
  LeaderThatIsSoonDone() {
    locks_.emplace(rows_, lock_options{.ttl = 20h, .time = clock_});
    rows_.before("acquire", [this] { began_.push_back(time_->now()); });
  }
  /// From the beginning of one campaign to that of the next.
  [[nodiscard]] std::vector<boot_clock::duration> distances() const {
    std::vector<boot_clock::duration> between;
    for (std::size_t i = 1; i < began_.size(); ++i) between.push_back(began_[i] - began_[i - 1]);
    return between;
  }

  const std::shared_ptr<clock_of_waiters> clock_ = std::make_shared<clock_of_waiters>(time_);
  const retry_policy doubling_{.first_pause = 20ms, .longest_pause = 1h, .jitter = false};

 private:
  std::vector<boot_clock::time_point> began_;  // written by the campaign
};

TEST_F(LeaderThatIsSoonDone, PausesLongerAndLonger) {
  auto ended = candidate([](const lease&, const std::stop_token&) {}, {.pauses = doubling_});
  rows_.await_moving(*time_, "acquire", 5);
  stop_.request_stop();
  ended.get();
  const auto between = distances();
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GE(between[i], 20ms * (1 << i));
}

TEST_F(LeaderThatIsSoonDone, PausesBrieflyAgainAfterATermThatLasted) {
  std::size_t terms = 0;
  gate end_of_seventh;
  auto ended = candidate(
      [&](const lease&, const std::stop_token&) {
        if (++terms == 7) end_of_seventh.pass();
      },
      {.pauses = doubling_});
  rows_.await_moving(*time_, "acquire", 7);
  end_of_seventh.await_visitor();
  time_->advance(1h + 1ms);
  end_of_seventh.open();
  clock_->await_wait_until(time_->now() + 20ms);
  stop_.request_stop();
  ended.get();
}

TEST_F(Leader, IsToldOfItsLossAndCampaignsAgain) {
  auto ended = candidate_for_terms();
  const auto first = await_term(1);
  ASSERT_EQ(rows_.force_release({.key = key_, .version = first, .reason = "a test"}),
            force_answer::released);
  time_->advance(10s);  // to its renewal
  const auto second = await_term(2);
  EXPECT_GT(second, first);
  EXPECT_EQ(observer_->await<lost_event>().reason, loss_reason::taken_away);
  stop_.request_stop();
  ended.get();
  locks_.reset();  // delivers the events that are left
  EXPECT_EQ(observer_->count<acquired_event>(), 2);
  EXPECT_EQ(observer_->count<released_event>(), 1);
}

TEST_F(Leader, CampaignsAgainWhenAFenceTellsOfItsLossFirst) {
  std::atomic<int> terms{0};
  auto ours = candidate([&](const lease&, const std::stop_token&) {
    if (++terms == 1) throw lease_lost{"taken away"};
    stop_.request_stop();
  });
  await_that([&] { return ours.is_over(); }, [this] { time_->advance(20ms); });
  ours.get();
  EXPECT_EQ(terms, 2);
}

TEST_F(Leader, TellsEverybodyWhoKeptItsTokenThatTheTermIsOver) {
  std::stop_token kept;
  auto ended = candidate([&](const lease&, const std::stop_token& over) {
    kept = over;
    throw std::runtime_error{"the end of it"};
  });
  EXPECT_THROW(ended.get(), std::runtime_error);
  EXPECT_TRUE(kept.stop_requested());
}

TEST_F(Leader, IsElectedAfterFaultsThatPassAndTheObserverIsToldOfEach) {
  fail_with({errc::unavailable, errc::outcome_unknown, errc::unavailable, errc::unavailable});
  auto ended = candidate_for_terms();
  await_term(1);
  stop_.request_stop();
  ended.get();
  locks_.reset();  // delivers the events that are left
  // The attempt in doubt is made again at once, and that fails, too.
  EXPECT_EQ(faults_of(fault_operation::acquire).size(), 3U);
}

TEST_F(Leader, PausesAfterAFaultAndIsStoppedThen) {
  rows_.before("acquire", [] { throw error{errc::unavailable, "the network is down: wait"}; });
  auto ended = candidate([](const lease&, const std::stop_token&) {});
  rows_.await("acquire", 1);
  rows_.await_moving(*time_, "acquire", 3);
  stop_.request_stop();
  ended.get();
}

TEST_F(Leader, GivesUpOnFaultsThatNeedSomebody) {
  for (const auto kind : {errc::misuse, errc::rejected}) {
    fail_with({kind});
    auto ended = candidate([](const lease&, const std::stop_token&) {});
    EXPECT_EQ(fault_of(ended), kind);
  }
}

TEST_F(Leader, ResignsBeforeAnExceptionOfTheCallbackPassesThrough) {
  auto ended = candidate([](const lease&, const std::stop_token&) {
    throw error{errc::unavailable, "another database: wait"};  // not one of the campaign
  });
  EXPECT_EQ(fault_of(ended), errc::unavailable);
  EXPECT_TRUE(is_free("a"));
  EXPECT_EQ(row().failure_count, 1);
}

TEST_F(Leader, EndsWithTheTable) {
  auto leading = candidate_for_terms();
  await_term(1);
  auto held = theirs_.try_acquire({"job", "b"});
  auto waiting = std::async(std::launch::async, [this] {
    run_while_leader(*locks_, {"job", "b"}, {}, [](const lease&, const std::stop_token&) {});
  });
  rows_.await_moving(*time_, "watch", 1);
  locks_.reset();
  leading.get();
  waiting.get();
  EXPECT_TRUE(is_free("a"));
}

TEST_F(Leader, LeadsWithinItsScope) {
  auto north = locks_->within("north");
  run_while_leader(north, key_, stop_.get_token(), [&](const lease& term, const std::stop_token&) {
    EXPECT_EQ(leader_of(rows_, scoped("north", key_))->term, term.token());
    EXPECT_FALSE(leader_of(rows_, key_));
    stop_.request_stop();
  });
}

TEST_F(Leader, HasNoLimits) {
  for (const auto& pauses : {no_wait(), wait_for(1s), wait_until_stopped(stop_.get_token())}) {
    auto ended = candidate([](const lease&, const std::stop_token&) {}, {.pauses = pauses});
    EXPECT_EQ(fault_of(ended), errc::misuse);
  }
}

}  // namespace
}  // namespace rowlock::tests
