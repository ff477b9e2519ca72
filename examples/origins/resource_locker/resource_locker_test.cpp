// The behaviour of the resource locker, its tasks and its job, on each engine.
#include "origins/resource_locker/resource_locker.hpp"

#include <array>
#include <atomic>
#include <barrier>
#include <functional>
#include <future>
#include <new>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "origins/support/events.hpp"
#include "origins/support/origin_test.hpp"
#include "origins/support/waits.hpp"
#include "support/patience.hpp"

namespace origins {
namespace {

using fault = rowlock::faulty_store::call;
using pauses = std::vector<std::chrono::milliseconds>;
using resources = std::vector<std::string>;

void log_nothing(log_level /*level*/, const std::string& /*text*/) {}

/// A task that fails as often as a test says.
class failing_task final : public retryable_task {
 public:
  failing_task(unsigned failures, unsigned max_retry, std::shared_ptr<rowlock::time_source> time,
               std::function<bool(const std::exception&)> handler = {})
      : retryable_task{30ms, max_retry, std::move(time)},
        failures_{failures},
        handler_{std::move(handler)} {}

  [[nodiscard]] unsigned runs() const { return runs_; }
  [[nodiscard]] const std::vector<std::string>& handled() const { return handled_; }

 private:
  void run() override {
    if (++runs_ <= failures_) throw std::domain_error{"failure " + std::to_string(runs_)};
  }
  bool handle(const std::exception& thrown) override {
    handled_.emplace_back(thrown.what());
    return handler_ ? handler_(thrown) : retryable_task::handle(thrown);
  }

  const unsigned failures_;
  const std::function<bool(const std::exception&)> handler_;
  unsigned runs_ = 0;
  std::vector<std::string> handled_;
};

/// What was thrown, and what is nested in it, outermost first.
std::vector<std::exception_ptr> chain_of(const std::function<void()>& call) {
  std::vector<std::exception_ptr> chain;
  try {
    call();
  } catch (...) {
    chain.push_back(std::current_exception());
  }
  while (!chain.empty()) {
    try {
      std::rethrow_exception(chain.back());
    } catch (const std::nested_exception& outer) {
      if (!outer.nested_ptr()) break;
      chain.push_back(outer.nested_ptr());
    } catch (...) {
      break;
    }
  }
  return chain;
}

template <class Exception>
bool is(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Exception&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::string text_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& shown) {
    return shown.what();
  }
}

class ResourceLocker : public origin_test {
 protected:
  resource_locker locker(rowlock::lock_table& locks, const resources& list, const std::string& id) {
    return {locks, list, 1h, log_, id};
  }
  update_events_job job(std::function<void(const rowlock::lease&)> update,
                        const std::string& account = "account-7") {
    return {locks_,
            account,
            std::move(update),
            log_,
            {.duration = 1h, .delay = 50ms, .max_retry = 3, .time = virtual_}};
  }
  /// Moves the clock until the lock table has unset the row in the background.
  void move_until_unset() {
    ASSERT_TRUE(comes([&] { return !is_held(row_); }, [&] { clock_->advance(1ms); }));
  }

  std::vector<std::string> debug_;
  std::vector<std::string> warnings_;
  const log_sink log_ = [this](log_level level, const std::string& text) {
    (level == log_level::debug ? debug_ : warnings_).push_back(text);
  };
  const resources events_{"account-7", "events"};
  // Two instances of the service.
  rowlock::lock_table locks_{faulty_, {.renew = false, .time = clock_}};
  rowlock::lock_table their_locks_{*rows_, {.renew = false, .time = clock_}};
  resource_locker ours_ = locker(locks_, events_, "host-1-100");
  resource_locker theirs_ = locker(their_locks_, events_, "host-2-200");
  const rowlock::lock_key row_ = ours_.row();
};

// What the original needs: several instances, readers untouched, no deadlocks, short lives.

TEST_P(ResourceLocker, IsOneForSeveralInstances) {
  constexpr int instances = 4;
  const auto their_rows = bench_->open();
  rowlock::lock_table their_locks{*their_rows, {.renew = false, .time = clock_}};
  std::barrier start{instances};
  std::atomic<int> locked = 0;
  std::atomic<int> refused = 0;
  std::vector<resource_locker> lockers;
  lockers.reserve(instances);
  for (int i = 0; i < instances; ++i) {
    lockers.emplace_back(i % 2 == 0 ? locks_ : their_locks, events_, 1h, log_nothing);
  }
  {
    std::vector<std::jthread> threads;
    for (auto& each : lockers) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        try {
          each.lock();
          ++locked;
        } catch (const could_not_acquire_lock&) {
          ++refused;
        }
      });
    }
  }
  EXPECT_EQ(locked, 1);
  EXPECT_EQ(refused, instances - 1);
}

TEST_P(ResourceLocker, LeavesReadersAndWritersOfTheTablesAlone) {
  ours_.lock();
  const auto connection = bench_->connect();
  auto other = connection->begin();
  (*other)->write_note("not a job");
  EXPECT_EQ((*other)->notes(), resources{"not a job"});
  (*other)->commit();
  EXPECT_TRUE(their_locks_.look(row_)->is_live());
}

TEST_P(ResourceLocker, NeverWaitsForAnother) {
  auto first = locker(locks_, {"a"}, "first");
  auto second = locker(their_locks_, {"b"}, "second");
  first.lock();
  second.lock();
  EXPECT_THROW(locker(locks_, {"b"}, "first").lock(), could_not_acquire_lock);
  EXPECT_THROW(locker(their_locks_, {"a"}, "second").lock(), could_not_acquire_lock);
}

TEST_P(ResourceLocker, IsFreeWhenItsDurationIsOver) {
  ours_.lock();
  bench_->run_out(row_);
  EXPECT_NO_THROW(theirs_.lock());
}

// The locker.

TEST_P(ResourceLocker, LocksTheListUnderItsIdForItsDuration) {
  ours_.lock();
  ASSERT_TRUE(is_held(row_));
  const auto locked = row(row_);
  EXPECT_EQ(rowlock::parts_of(locked->key.source_id), events_);
  EXPECT_EQ(locked->holder, "host-1-100");
  EXPECT_GT(*locked->remaining, 30min) << "the lock table's ttl is 30 s";
  EXPECT_LE(*locked->remaining, 1h);
}

TEST_P(ResourceLocker, IsRefusedWhileAnotherLockerHasTheListAndSaysSo) {
  ours_.lock();
  const auto thrown = chain_of([&] { theirs_.lock(); });
  ASSERT_EQ(thrown.size(), 1U);
  EXPECT_TRUE(is<could_not_acquire_lock>(thrown.front()));
  EXPECT_EQ(text_of(thrown.front()), "could not acquire the lock on account-7/events");
  ASSERT_EQ(debug_.size(), 1U);
  EXPECT_NE(debug_.front().find("account-7/events is held by host-1-100"), std::string::npos)
      << debug_.front();
}

TEST_P(ResourceLocker, OfAnotherListDoesNotMeetIt) {
  ours_.lock();
  for (const auto& list : std::vector<resources>{{"account-7"},
                                                 {"account-7/events"},
                                                 {"account-7", "events", ""},
                                                 {"account-7", "events", "1"}}) {
    EXPECT_NO_THROW(locker(their_locks_, list, "other").lock()) << list.size();
  }
}

TEST_P(ResourceLocker, OfAnotherOrderDoesNotMeetIt) {
  ours_.lock();
  EXPECT_NO_THROW(locker(their_locks_, {"events", "account-7"}, "other").lock());
}

TEST_P(ResourceLocker, LabelsItselfByHostThreadAndTime) {
  std::ostringstream thread;
  thread << std::this_thread::get_id();
  EXPECT_EQ(locker_id("web1", std::chrono::system_clock::time_point{1234ms}),
            "web1-" + thread.str() + "-1234");
  resource_locker labelled{locks_, events_, 1h, log_};
  labelled.lock();
  EXPECT_TRUE(row(row_)->holder.starts_with(host_name().value() + '-' + thread.str() + '-'));
  EXPECT_EQ(row(row_)->holder, labelled.id());
}

TEST_P(ResourceLocker, IsOfAnUnknownServiceHostWhenItHasNoName) {
  const std::chrono::system_clock::time_point now{1234ms};
  EXPECT_TRUE(locker_id(std::nullopt, now).starts_with("unknown_service_host-"));
  EXPECT_EQ(locker_id("", now), locker_id(std::nullopt, now));
}

TEST_P(ResourceLocker, UnlocksWhatIsItsOwn) {
  ours_.lock();
  EXPECT_TRUE(ours_.unlock());
  EXPECT_FALSE(is_held(row_));
  EXPECT_NO_THROW(theirs_.lock());
}

TEST_P(ResourceLocker, UnlocksNothingThatIsNotItsOwn) {
  EXPECT_FALSE(ours_.unlock()) << "there is none";
  ours_.lock();
  EXPECT_FALSE(theirs_.unlock());
  EXPECT_TRUE(is_held(row_));
}

// Retryable tasks.

TEST_P(ResourceLocker, TaskRunsOnceIfItSucceeds) {
  failing_task task{0, 3, virtual_};
  task.call();
  EXPECT_EQ(task.runs(), 1U);
  EXPECT_EQ(virtual_->pauses(), pauses{});
}

TEST_P(ResourceLocker, TaskHandlesAFailureSleepsAndTriesAgain) {
  failing_task task{2, 3, virtual_};
  task.call();
  EXPECT_EQ(task.runs(), 3U);
  EXPECT_EQ(task.handled(), (std::vector<std::string>{"failure 1", "failure 2"}));
  EXPECT_EQ(virtual_->pauses(), pauses(2, 30ms));
}

TEST_P(ResourceLocker, TaskFailsWithTheCauseOfItsLastTry) {
  failing_task task{9, 3, virtual_};
  const auto thrown = chain_of([&] { task.call(); });
  ASSERT_EQ(thrown.size(), 2U);
  EXPECT_TRUE(is<retryable_task_failed>(thrown[0]));
  EXPECT_EQ(text_of(thrown[1]), "failure 3");
  EXPECT_EQ(task.handled().size(), 2U) << "not after the last try";
  EXPECT_EQ(virtual_->pauses(), pauses(2, 30ms)) << "none after the last try";
}

TEST_P(ResourceLocker, TaskIsDoneWhenItsHandlerSaysSo) {
  failing_task task{9, 5, virtual_, [](const std::exception& thrown) {
                      return std::string{thrown.what()} == "failure 2";
                    }};
  task.call();
  EXPECT_EQ(task.runs(), 2U);
  EXPECT_EQ(virtual_->pauses(), pauses{30ms});
}

TEST_P(ResourceLocker, LocksAsATask) {
  theirs_.lock();
  const auto time = std::make_shared<eventful_time>(virtual_);
  time->in_pause(2, [&] {
    theirs_.unlock();
    faulty_.next_is_unavailable(fault::acquire);
  });
  retryable_lock_resource{ours_, 50ms, 4, time}.call();
  EXPECT_EQ(virtual_->pauses(), pauses(3, 50ms)) << "refused, refused, away, locked";
  EXPECT_EQ(row(row_)->holder, "host-1-100");
  EXPECT_EQ(debug_.size(), 2U);
}

TEST_P(ResourceLocker, FailsToLockAsATask) {
  theirs_.lock();
  const auto thrown = chain_of([&] { retryable_lock_resource{ours_, 50ms, 3, virtual_}.call(); });
  ASSERT_EQ(thrown.size(), 2U);
  EXPECT_TRUE(is<retryable_task_failed>(thrown[0]));
  EXPECT_TRUE(is<could_not_acquire_lock>(thrown[1]));
  EXPECT_EQ(virtual_->pauses(), pauses(2, 50ms));
}

TEST_P(ResourceLocker, UnlocksAsATask) {
  ours_.lock();
  retryable_unlock_resource{ours_, 50ms, 3, virtual_}.call();
  EXPECT_FALSE(is_held(row_));
  EXPECT_EQ(virtual_->pauses(), pauses{});
}

TEST_P(ResourceLocker, LooksAgainWhetherItIsUnlockedAsATask) {
  ours_.lock();
  faulty_.next_is_unavailable(fault::release);
  const auto time = std::make_shared<eventful_time>(virtual_);
  time->in_each_pause([this] { move_until_unset(); });
  retryable_unlock_resource{ours_, 50ms, 3, time}.call();
  EXPECT_EQ(virtual_->pauses(), pauses{50ms});
  EXPECT_EQ(warnings_, std::vector<std::string>{});
}

TEST_P(ResourceLocker, FailsToUnlockAsATask) {
  ours_.lock();
  // Without a pause the clock stands still, and so does the lock table's background.
  faulty_.next_is_unavailable(fault::release);
  const auto thrown = chain_of([&] { retryable_unlock_resource{ours_, 0ms, 3, virtual_}.call(); });
  ASSERT_EQ(thrown.size(), 2U);
  EXPECT_TRUE(is<retryable_task_failed>(thrown[0]));
  EXPECT_TRUE(is<rowlock::error>(thrown[1]));
  EXPECT_TRUE(is_held(row_));
}

// The scheduled job.

TEST_P(ResourceLocker, JobUpdatesAllEventsUnderTheLockAndUnlocks) {
  const auto connection = bench_->connect();
  job([&](const rowlock::lease& held) {
    EXPECT_EQ(held.key(), row_);
    EXPECT_TRUE(is_held(row_));
    EXPECT_TRUE(row(row_)->holder.starts_with(host_name().value() + '-'));
    auto work = connection->begin();
    for (const auto* event : {"event-1", "event-2"}) (*work)->write_note(event);
    (*work)->commit();
  }).execute();
  EXPECT_EQ(connection->notes(), (std::vector<std::string>{"event-1", "event-2"}));
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ResourceLocker, JobThatCannotLockUpdatesNothing) {
  theirs_.lock();
  bool has_run = false;
  const auto thrown =
      chain_of([&] { job([&](const rowlock::lease&) { has_run = true; }).execute(); });
  ASSERT_EQ(thrown.size(), 3U);
  EXPECT_TRUE(is<job_execution_error>(thrown[0]));
  EXPECT_TRUE(is<retryable_task_failed>(thrown[1]));
  EXPECT_TRUE(is<could_not_acquire_lock>(thrown[2]));
  EXPECT_FALSE(has_run);
  EXPECT_EQ(virtual_->pauses(), pauses(2, 50ms));
  ASSERT_TRUE(is_held(row_)) << "it unlocks nothing in `finally`";
  EXPECT_EQ(row(row_)->holder, "host-2-200");
}

TEST_P(ResourceLocker, JobUnlocksWhenTheUpdateFails) {
  const auto thrown = chain_of([&] {
    job([](const rowlock::lease&) { throw std::domain_error{"no such event"}; }).execute();
  });
  ASSERT_EQ(thrown.size(), 2U);
  EXPECT_TRUE(is<job_execution_error>(thrown[0]));
  EXPECT_EQ(text_of(thrown[1]), "no such event");
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ResourceLocker, JobMapsEveryFailureToTheSchedulersException) {
  faulty_.next_is_unavailable(fault::acquire);
  faulty_.next_is_unavailable(fault::acquire);
  faulty_.next_is_unavailable(fault::acquire);
  EXPECT_THROW(job([](const rowlock::lease&) {}).execute(), job_execution_error);
  EXPECT_THROW(job([](const rowlock::lease&) { throw 7; }).execute(), job_execution_error);
  EXPECT_THROW(job([](const rowlock::lease&) {}, std::string(256, 'x')).execute(),
               job_execution_error);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ResourceLocker, JobsOfTwoAccountsRunSideBySide) {
  bool has_run = false;
  job([&](const rowlock::lease&) {
    job([&](const rowlock::lease&) { has_run = true; }, "account-8").execute();
  }).execute();
  EXPECT_TRUE(has_run);
  EXPECT_EQ(debug_, std::vector<std::string>{});
}

// The edges of its behaviour.

TEST_P(ResourceLocker, TaskIsTriedOnceAtLeast) {
  for (const unsigned max_retry : {0U, 1U}) {
    failing_task task{9, max_retry, virtual_};
    EXPECT_THROW(task.call(), retryable_task_failed);
    EXPECT_EQ(task.runs(), 1U);
    EXPECT_EQ(task.handled().size(), 0U);
  }
  EXPECT_EQ(virtual_->pauses(), pauses{});
}

TEST_P(ResourceLocker, TaskEndsWithWhatIsNoStandardException) {
  class odd_task final : public retryable_task {
   public:
    using retryable_task::retryable_task;
    unsigned runs = 0;

   private:
    void run() override {
      ++runs;
      throw 7;
    }
  };
  odd_task task{30ms, 3, virtual_};
  EXPECT_THROW(task.call(), int);
  EXPECT_EQ(task.runs, 1U);
  EXPECT_EQ(virtual_->pauses(), pauses{});
}

TEST_P(ResourceLocker, TaskEndsWithWhatItsHandlerThrows) {
  failing_task task{9, 3, virtual_,
                    [](const std::exception&) -> bool { throw std::out_of_range{"handler"}; }};
  EXPECT_THROW(task.call(), std::out_of_range);
  EXPECT_EQ(task.runs(), 1U);
}

TEST_P(ResourceLocker, IsNotLockedTwice) {
  ours_.lock();
  EXPECT_THROW(ours_.lock(), could_not_acquire_lock);
  EXPECT_TRUE(ours_.unlock());
  EXPECT_FALSE(is_held(row_));
  EXPECT_FALSE(ours_.unlock()) << "there is none any more";
  EXPECT_EQ(warnings_, std::vector<std::string>{}) << "nothing was lost";
}

TEST_P(ResourceLocker, LocksAgainWhatItLetRunOut) {
  ours_.lock();
  bench_->run_out(row_);
  ours_.lock();
  EXPECT_TRUE(is_held(row_));
  EXPECT_TRUE(ours_.unlock());
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ResourceLocker, IsLostWhenASuccessorHasTheListBeforeTheUnlockIsConfirmed) {
  ours_.lock();
  faulty_.next_is_unavailable(fault::release);
  EXPECT_THROW(ours_.unlock(), rowlock::error);
  bench_->run_out(row_);
  theirs_.lock();
  EXPECT_FALSE(ours_.unlock());
  EXPECT_EQ(warnings_,
            std::vector<std::string>{"the lock on account-7/events was lost before its unlock"});
  ASSERT_TRUE(is_held(row_));
  EXPECT_EQ(row(row_)->holder, "host-2-200");
  EXPECT_FALSE(ours_.unlock()) << "there is none any more";
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_P(ResourceLocker, IsUnlockedWhenItsDurationEndsBeforeTheUnlockIsConfirmed) {
  ours_.lock();
  faulty_.next_is_unavailable(fault::release);
  EXPECT_THROW(ours_.unlock(), rowlock::error);
  bench_->run_out(row_);
  EXPECT_TRUE(ours_.unlock());
  EXPECT_EQ(warnings_, std::vector<std::string>{});
}

TEST_P(ResourceLocker, IsUnlockedWhenTheUnlockIsConfirmedLater) {
  ours_.lock();
  faulty_.next_is_unavailable(fault::release);
  EXPECT_THROW(ours_.unlock(), rowlock::error);
  EXPECT_THROW(ours_.unlock(), rowlock::error) << "the clock stands still";
  move_until_unset();
  EXPECT_TRUE(ours_.unlock());
  EXPECT_EQ(warnings_, std::vector<std::string>{});
}

TEST_P(ResourceLocker, LocksAgainAfterAnUnlockThatWasNotConfirmed) {
  ours_.lock();
  faulty_.next_is_unavailable(fault::release);
  EXPECT_THROW(ours_.unlock(), rowlock::error);
  move_until_unset();
  ours_.lock();
  EXPECT_TRUE(is_held(row_));
  EXPECT_TRUE(ours_.unlock());
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ResourceLocker, OfNoListOrOfOneThatIsTooLongIsMisuse) {
  for (const auto& list : std::vector<resources>{{}, {""}, {std::string(256, 'x')}}) {
    const auto thrown = chain_of([&] { (void)locker(locks_, list, "ours"); });
    ASSERT_EQ(thrown.size(), 1U);
    EXPECT_TRUE(is<rowlock::error>(thrown.front()));
  }
}

TEST_P(ResourceLocker, ALogThatFailsChangesNothing) {
  theirs_.lock();
  resource_locker logging{locks_, events_, 1h,
                          [](log_level, const std::string&) { throw std::bad_alloc{}; }, "ours"};
  EXPECT_THROW(logging.lock(), could_not_acquire_lock);
}

// What the original could not promise.

TEST_P(ResourceLocker, UnlocksWithOneStatement) {
  hooked_client counted{*rows_};
  rowlock::lock_table locks{counted, {.renew = false, .time = clock_}};
  auto locked = locker(locks, events_, "host-1-100");
  locked.lock();
  const auto before = counted.made().size();
  EXPECT_TRUE(locked.unlock());
  EXPECT_EQ(counted.made().size(), before + 1);
}

TEST_P(ResourceLocker, UnlocksNothingOfASuccessorThatComesBeforeTheDelete) {
  hooked_client interrupted{*rows_};
  rowlock::lock_table locks{interrupted, {.renew = false, .time = clock_}};
  auto late = locker(locks, events_, "host-1-100");
  late.lock();
  interrupted.before_next(rowlock::store_call::release, [&] {
    bench_->run_out(row_);
    theirs_.lock();
  });
  EXPECT_FALSE(late.unlock());
  ASSERT_TRUE(is_held(row_));
  EXPECT_EQ(row(row_)->holder, "host-2-200");
}

TEST_P(ResourceLocker, UnlocksNothingOfANamesake) {
  auto namesake = locker(their_locks_, events_, "host-1-100");
  ours_.lock();
  EXPECT_FALSE(namesake.unlock());
  bench_->run_out(row_);
  namesake.lock();
  EXPECT_FALSE(ours_.unlock());
  EXPECT_TRUE(is_held(row_));
}

TEST_P(ResourceLocker, LogsThatItWasLost) {
  ours_.lock();
  bench_->run_out(row_);
  theirs_.lock();
  EXPECT_FALSE(ours_.unlock());
  EXPECT_EQ(warnings_,
            std::vector<std::string>{"the lock on account-7/events was lost before its unlock"});
}

TEST_P(ResourceLocker, KnowsItsLockWhenTheAnswerGotLost) {
  faulty_.next_is_in_doubt(fault::acquire);
  EXPECT_NO_THROW(ours_.lock());
  EXPECT_EQ(faulty_.pending(), 0U);
  EXPECT_TRUE(ours_.unlock());
}

TEST_P(ResourceLocker, JobIsNotifiedThatItsDurationIsOver) {
  job([&](const rowlock::lease& held) {
    std::promise<void> lost;
    const std::stop_callback notifying{held.lost(), [&] { lost.set_value(); }};
    EXPECT_FALSE(held.lost().stop_requested());
    clock_->advance(1h);
    EXPECT_EQ(lost.get_future().wait_for(rowlock::tests::patience), std::future_status::ready);
    EXPECT_FALSE(held.is_valid());
  }).execute();
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_P(ResourceLocker, JobIsNotNotifiedBeforeItsDurationIsOver) {
  job([&](const rowlock::lease& held) {
    clock_->advance(59min);
    EXPECT_TRUE(held.is_valid());
    EXPECT_FALSE(held.lost().stop_requested());
  }).execute();
  EXPECT_EQ(warnings_, std::vector<std::string>{});
}

TEST_P(ResourceLocker, JobFencesItsTransaction) {
  const auto connection = bench_->connect();
  job([&](const rowlock::lease& held) {
    (void)connection->run_fenced(held,
                                 [](rowlock::conformance::app_transaction& work) {
                                   work.write_note("updated in time");
                                   return 0;
                                 },
                                 {});
  }).execute();
  EXPECT_EQ(connection->notes(), std::vector<std::string>{"updated in time"});
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ResourceLocker, JobThatWasOvertakenCommitsNothing) {
  const auto connection = bench_->connect();
  const auto overtaken = [&](const rowlock::lease& held) {
    bench_->run_out(row_);
    theirs_.lock();
    (void)connection->run_fenced(held,
                                 [](rowlock::conformance::app_transaction& work) {
                                   work.write_note("updated too late");
                                   return 0;
                                 },
                                 {});
  };
  const auto thrown = chain_of([&] { job(overtaken).execute(); });
  ASSERT_GE(thrown.size(), 2U);
  EXPECT_TRUE(is<job_execution_error>(thrown[0]));
  EXPECT_TRUE(is<rowlock::lease_lost>(thrown[1]));
  EXPECT_EQ(connection->notes(), std::vector<std::string>{});
  EXPECT_TRUE(is_held(row_)) << "theirs";
}

TEST_P(ResourceLocker, JobStandsWhenItsUnlockFails) {
  update_events_job{locks_,
                    "account-7",
                    [&](const rowlock::lease&) { faulty_.next_is_unavailable(fault::release); },
                    log_,
                    {.duration = 1h, .delay = 0ms, .max_retry = 2, .time = virtual_}}
      .execute();
  EXPECT_EQ(warnings_, std::vector<std::string>{"the unlock of account-7 failed 2 times"});
  move_until_unset();
}

INSTANTIATE_TEST_SUITE_P(Engines, ResourceLocker, testing::ValuesIn(engines()), name_of);

}  // namespace
}  // namespace origins
