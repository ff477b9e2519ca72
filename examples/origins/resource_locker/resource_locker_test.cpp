// The behaviour of the resource locker, its tasks and its job, on each engine.
#include "origins/resource_locker/resource_locker.hpp"

#include <functional>
#include <string>
#include <vector>

#include "origins/support/origin_test.hpp"

namespace origins {
namespace {

using fault = rowlock::faulty_store::call;
using pauses = std::vector<std::chrono::milliseconds>;

/// A task that fails as often as a test says.
class failing_task final : public retryable_task {
 public:
  failing_task(unsigned failures, unsigned max_retry, std::shared_ptr<rowlock::time_source> time,
               bool is_done_then = false)
      : retryable_task{30ms, max_retry, std::move(time)},
        failures_{failures},
        is_done_then_{is_done_then} {}

  [[nodiscard]] unsigned runs() const { return runs_; }
  [[nodiscard]] unsigned handled() const { return handled_; }

 private:
  void run() override {
    if (++runs_ <= failures_) throw std::domain_error{"failure " + std::to_string(runs_)};
  }
  bool handle(const std::exception& /*thrown*/) override {
    ++handled_;
    return is_done_then_;
  }

  const unsigned failures_;
  const bool is_done_then_;
  unsigned runs_ = 0;
  unsigned handled_ = 0;
};

std::string cause_of(const std::exception& thrown) {
  try {
    std::rethrow_if_nested(thrown);
  } catch (const std::exception& cause) {
    return cause.what();
  }
  return "";
}

class ResourceLocker : public origin_test {
 protected:
  resource_locker locker(const std::vector<std::string>& resources, const std::string& id) {
    return {locks_, resources, 1h,
            [this](log_level level, const std::string& text) {
              if (level == log_level::debug) debug_.push_back(text);
            },
            id};
  }
  [[nodiscard]] update_events_job::tries limits() const {
    return {.delay = 50ms, .count = 3, .time = virtual_};
  }

  rowlock::lock_table locks_{faulty_, {.ttl = 1h, .renew = false, .time = clock_}};
  std::vector<std::string> debug_;
  resource_locker ours_ = locker({"account-7", "events"}, "host-1-100");
  resource_locker theirs_ = locker({"account-7", "events"}, "host-2-200");
  const rowlock::lock_key row_ = ours_.row();
};

TEST_P(ResourceLocker, LocksTheListUnderItsId) {
  ours_.lock();
  ASSERT_TRUE(is_held(row_));
  EXPECT_EQ(row(row_)->holder, "host-1-100");
}

TEST_P(ResourceLocker, IsRefusedWhileAnotherLockerHasTheListAndSaysSo) {
  ours_.lock();
  try {
    theirs_.lock();
    ADD_FAILURE() << "no error";
  } catch (const could_not_acquire_lock& thrown) {
    EXPECT_EQ(thrown.what(), std::string{"could not acquire the lock on account-7/events"});
  }
  ASSERT_EQ(debug_.size(), 1U);
  EXPECT_NE(debug_.front().find("is held by host-1-100"), std::string::npos) << debug_.front();
}

TEST_P(ResourceLocker, OfAnotherListDoesNotMeetIt) {
  ours_.lock();
  for (const auto& resources : std::vector<std::vector<std::string>>{{"account-7"},
                                                                     {"events", "account-7"},
                                                                     {"account-7/events"},
                                                                     {"account-7", "events", ""}}) {
    EXPECT_NO_THROW(locker(resources, "other").lock()) << resources.size();
  }
}

TEST_P(ResourceLocker, LabelsItselfByHostThreadAndTime) {
  std::ostringstream thread;
  thread << std::this_thread::get_id();
  EXPECT_EQ(locker_id("web1", std::chrono::system_clock::time_point{1234ms}),
            "web1-" + thread.str() + "-1234");
  EXPECT_TRUE(locker_id().starts_with(host_name().substr(0, 64) + '-'));
}

TEST_P(ResourceLocker, UnlocksWhatIsItsOwn) {
  ours_.lock();
  EXPECT_TRUE(ours_.unlock());
  EXPECT_FALSE(is_held(row_));
  EXPECT_NO_THROW(theirs_.lock());
}

TEST_P(ResourceLocker, UnlocksNothingThatIsNotItsOwn) {
  EXPECT_FALSE(ours_.unlock());
  ours_.lock();
  EXPECT_FALSE(theirs_.unlock());
  EXPECT_TRUE(is_held(row_));
}

TEST_P(ResourceLocker, IsFreeWhenItsDurationIsOver) {
  ours_.lock();
  bench_->run_out(row_);
  EXPECT_NO_THROW(theirs_.lock());
}

TEST_P(ResourceLocker, TaskRunsOnceIfItSucceeds) {
  failing_task task{0, 3, virtual_};
  task.call();
  EXPECT_EQ(task.runs(), 1U);
  EXPECT_EQ(virtual_->pauses(), pauses{});
}

TEST_P(ResourceLocker, TaskSleepsBetweenItsTries) {
  failing_task task{2, 3, virtual_};
  task.call();
  EXPECT_EQ(task.runs(), 3U);
  EXPECT_EQ(task.handled(), 2U);
  EXPECT_EQ(virtual_->pauses(), pauses(2, 30ms));
}

TEST_P(ResourceLocker, TaskFailsWithTheCauseOfItsLastTry) {
  failing_task task{9, 3, virtual_};
  try {
    task.call();
    ADD_FAILURE() << "no error";
  } catch (const retryable_task_failed& thrown) {
    EXPECT_EQ(cause_of(thrown), "failure 3");
  }
  EXPECT_EQ(task.handled(), 2U) << "not after the last try";
  EXPECT_EQ(virtual_->pauses(), pauses(2, 30ms));
}

TEST_P(ResourceLocker, TaskIsDoneWhenItsHandlerSaysSo) {
  failing_task task{9, 3, virtual_, true};
  task.call();
  EXPECT_EQ(task.runs(), 1U);
  EXPECT_EQ(virtual_->pauses(), pauses{});
}

TEST_P(ResourceLocker, IsTriedAgainAsATask) {
  theirs_.lock();
  retryable_lock_resource locking{ours_, 50ms, 3, virtual_};
  EXPECT_THROW(locking.call(), retryable_task_failed);
  EXPECT_EQ(virtual_->pauses(), pauses(2, 50ms));
  theirs_.unlock();
  faulty_.next_is_unavailable(fault::acquire);
  EXPECT_NO_THROW(locking.call());
  retryable_unlock_resource{ours_, 50ms, 3, virtual_}.call();
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ResourceLocker, JobUpdatesUnderTheLockAndUnlocks) {
  bool was_held = false;
  update_events_job{ours_, [&](const rowlock::lease&) { was_held = is_held(row_); }, limits()}
      .execute();
  EXPECT_TRUE(was_held);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(ResourceLocker, JobThatCannotLockUpdatesNothing) {
  theirs_.lock();
  bool has_run = false;
  try {
    update_events_job{ours_, [&](const rowlock::lease&) { has_run = true; }, limits()}.execute();
    ADD_FAILURE() << "no error";
  } catch (const job_execution_error& thrown) {
    EXPECT_EQ(cause_of(thrown), "failed 3 times");
  }
  EXPECT_FALSE(has_run);
  EXPECT_TRUE(is_held(row_));
}

TEST_P(ResourceLocker, JobUnlocksWhenTheUpdateFails) {
  try {
    update_events_job{
        ours_, [](const rowlock::lease&) { throw std::domain_error{"no such event"}; }, limits()}
        .execute();
    ADD_FAILURE() << "no error";
  } catch (const job_execution_error& thrown) {
    EXPECT_EQ(cause_of(thrown), "no such event");
  }
  EXPECT_FALSE(is_held(row_));
}

// What the original could not promise.

TEST_P(ResourceLocker, UnlocksNothingOfASuccessor) {
  ours_.lock();
  bench_->run_out(row_);
  theirs_.lock();
  EXPECT_FALSE(ours_.unlock());
  ASSERT_TRUE(is_held(row_));
  EXPECT_EQ(row(row_)->holder, "host-2-200");
}

TEST_P(ResourceLocker, JobIsToldThatItsDurationIsOver) {
  bool is_told = false;
  update_events_job{ours_,
                    [&](const rowlock::lease& held) {
                      clock_->advance(1h);
                      is_told = !held.is_valid();
                    },
                    limits()}
      .execute();
  EXPECT_TRUE(is_told);
}

TEST_P(ResourceLocker, JobThatWasOvertakenCommitsNothing) {
  const auto connection = bench_->connect();
  EXPECT_THROW((update_events_job{ours_,
                                  [&](const rowlock::lease& held) {
                                    bench_->run_out(row_);
                                    theirs_.lock();
                                    (void)connection->run_fenced(
                                        held,
                                        [](rowlock::conformance::app_transaction& work) {
                                          work.write_note("updated too late");
                                          return 0;
                                        },
                                        {});
                                  },
                                  limits()}
                    .execute()),
               job_execution_error);
  EXPECT_TRUE(connection->notes().empty());
}

INSTANTIATE_TEST_SUITE_P(Engines, ResourceLocker, testing::ValuesIn(engines()), name_of);

}  // namespace
}  // namespace origins
