// What each metric counts.
#include <gtest/gtest.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "prometheus/observed_registry.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/prometheus.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/caught_error.hpp"
#include "support/hooked_store.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

const labels job{{"type", "job"}};

labels job_with(const std::string& name, const std::string& value) {
  return {{"type", "job"}, {name, value}};
}
labels job_in(const std::string& mode) { return job_with("mode", mode); }
labels refused_job(const std::string& mode, const std::string& reason) {
  return {{"type", "job"}, {"mode", mode}, {"reason", reason}};
}
labels ended_job(const std::string& mode, const std::string& result) {
  return {{"type", "job"}, {"mode", mode}, {"result", result}};
}

class Metrics : public testing::Test {
 protected:
  /// All events of `ours_` are delivered.
  void close() { ours_.reset(); }
  void grant(const std::string& type) const {
    metrics_.observer()->acquired({.key = {.type = type, .source_id = "a"}});
  }
  [[nodiscard]] double grants(const std::string& type) const {
    return metrics_.counter("rowlock_grants_total", {{"mode", "lease"}, {"type", type}});
  }

  const lock_key key_{"job", "a"};
  observed_registry metrics_;
  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table theirs_{rows_.rows(), {.ttl = 1h, .holder = "theirs", .time = time_}};
  std::optional<lock_table> ours_{
      std::in_place, rows_,
      lock_options{.ttl = 30s, .margin = 3s, .time = time_, .observer = metrics_.observer()}};
};

TEST_F(Metrics, CountGrants) {
  (void)ours_->try_acquire(key_);
  (void)ours_->try_acquire_all({{"job", "b"}, {"job", "c"}});
  (void)ours_->try_acquire({"task", "a"});
  close();
  EXPECT_EQ(grants("job"), 3);
  EXPECT_EQ(grants("task"), 1);
}

TEST_F(Metrics, CountRefusalsByReason) {
  const auto held = *theirs_.try_acquire(key_);
  (void)ours_->try_acquire(key_);
  (void)ours_->try_acquire(key_);
  memory_transaction rival{rows_.rows()};
  (void)lock_rows(rival, lock_key{"job", "busy"}, no_wait());
  (void)ours_->try_acquire({"job", "busy"});
  std::stop_source stop;
  stop.request_stop();
  auto wait = wait_forever();
  wait.stop = stop.get_token();
  (void)ours_->try_acquire(key_, {.wait = wait});
  (void)theirs_.with_lock_once({"job", "once"}, [] {});
  (void)ours_->with_lock_once({"job", "once"}, [] {});
  close();
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("lease", "held")), 2);
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("lease", "busy")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("lease", "stopped")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("lease", "already_done")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("lease", "timed_out")), 0);
}

TEST_F(Metrics, MeasureAWaitThatWasInVain) {
  const auto held = *theirs_.try_acquire(key_);
  auto waiting = std::async(std::launch::async,
                            [this] { return ours_->try_acquire(key_, {.wait = wait_for(7s)}); });
  rows_.await_moving(*time_, "watch", 1);
  time_->advance(7s);
  ASSERT_FALSE(waiting.get().acquired());
  close();
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("lease", "timed_out")), 1);
  const auto waits = metrics_.histogram("rowlock_wait_seconds", job_in("lease"));
  EXPECT_EQ(waits.count, 1);
  EXPECT_GE(waits.sum, 7.0);
}

TEST_F(Metrics, MeasureNoWaitOfAGrantAtOnce) {
  (void)ours_->try_acquire(key_, {.wait = wait_for(7s)});
  close();
  EXPECT_EQ(metrics_.histogram("rowlock_wait_seconds", job_in("lease")).count, 0);
}

TEST_F(Metrics, MeasureAHoldFromItsRequestToItsRelease) {
  auto held = *ours_->try_acquire(key_);
  time_->advance(1500ms);
  held.release();
  close();
  const auto holds = metrics_.histogram("rowlock_hold_seconds", job_in("lease"));
  EXPECT_EQ(holds.count, 1);
  EXPECT_EQ(holds.sum, 1.5);
  EXPECT_EQ(metrics_.counter("rowlock_releases_total", job_with("result", "released")), 1);
}

TEST_F(Metrics, MeasureTheHoldOfALostLease) {
  const auto held = *ours_->try_acquire(key_);
  rows_.before("renew", [] { throw error{errc::unavailable, "the network is down: wait"}; });
  time_->advance(27s);
  metrics_.await_counter("rowlock_losses_total", job_with("reason", "ran_out"), 1);
  close();
  const auto holds = metrics_.histogram("rowlock_hold_seconds", job_in("lease"));
  EXPECT_EQ(holds.count, 1);
  EXPECT_EQ(holds.sum, 27.0);
}

// Valid for 27 s, and renewed after 10 s: 17 s are left. A third of it is 9 s.
TEST_F(Metrics, CountARenewalInTime) {
  const auto held = *ours_->try_acquire(key_);
  rows_.before("renew", [this] { time_->advance(8s); });
  time_->advance(10s);
  metrics_.await_counter("rowlock_renewals_total", job, 1);
  close();
  EXPECT_EQ(metrics_.counter("rowlock_late_renewals_total", job), 0);
}

TEST_F(Metrics, CountARenewalThatCameWithLessThanAThirdLeft) {
  const auto held = *ours_->try_acquire(key_);
  rows_.before("renew", [this] { time_->advance(8001ms); });
  time_->advance(10s);
  metrics_.await_counter("rowlock_late_renewals_total", job, 1);
  EXPECT_EQ(metrics_.counter("rowlock_renewals_total", job), 1);
}

TEST_F(Metrics, CountTakeovers) {
  lock_table dying{rows_.rows(), {.ttl = 4s, .margin = 1s, .renew = false, .time = time_}};
  const auto left = *dying.try_acquire(key_);
  time_->advance(5s);
  (void)ours_->try_acquire(key_);
  (void)ours_->try_acquire({"job", "b"});
  close();
  EXPECT_EQ(metrics_.counter("rowlock_takeovers_total", job), 1);
}

TEST_F(Metrics, CountLossesByReason) {
  auto taken = *ours_->try_acquire(key_);
  rows_.rows().force_release({.key = key_, .version = taken.token(), .reason = "a test"});
  EXPECT_EQ(taken.release(), release_result::lost);
  const auto open = *ours_->try_acquire({"job", "b"});
  close();
  EXPECT_EQ(metrics_.counter("rowlock_losses_total", job_with("reason", "taken_away")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_losses_total", job_with("reason", "closed")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_losses_total", job_with("reason", "ran_out")), 0);
}

TEST_F(Metrics, CountADeferredReleaseAndItsHoldAndFailureOnce) {
  rows_.before("release", [] { throw error{errc::unavailable, "the network is down: wait"}; });
  EXPECT_THROW((void)ours_->with_lock(key_, [] { throw std::runtime_error{"no"}; }),
               std::runtime_error);
  metrics_.await_counter("rowlock_releases_total", job_with("result", "deferred"), 1);
  rows_.before("release", {});
  rows_.await_moving(*time_, "release", 2);
  close();
  EXPECT_EQ(metrics_.counter("rowlock_releases_total", job_with("result", "deferred")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_releases_total", job_with("result", "released")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_failed_callbacks_total", job), 1);
  EXPECT_EQ(metrics_.histogram("rowlock_hold_seconds", job_in("lease")).count, 1);
}

TEST_F(Metrics, CountFaultsByOperation) {
  const auto fail = [] { throw error{errc::unavailable, "the network is down: wait"}; };
  auto held = *ours_->try_acquire(key_);
  for (const auto* operation : {"renew", "acquire", "prepare", "write_note", "release"}) {
    rows_.before(operation, fail);
  }
  time_->advance(10s);
  metrics_.await_counter("rowlock_faults_total", job_with("operation", "renew"), 1);
  EXPECT_THROW((void)ours_->try_acquire({"job", "b"}), error);
  EXPECT_THROW((void)ours_->read(key_), error);
  EXPECT_THROW((void)held.write_note("half"), error);
  held.release();
  metrics_.await_counter("rowlock_faults_total", job_with("operation", "release"), 1);
  rows_.before("release", {});
  close();
  for (const auto* operation : {"acquire", "read", "note"}) {
    EXPECT_EQ(metrics_.counter("rowlock_faults_total", job_with("operation", operation)), 1)
        << operation;
  }
}

TEST_F(Metrics, CountWeakSettings) {
  EXPECT_EQ(metrics_.counter("rowlock_weak_settings_total"), 0);
  rows_.weaken({"commits may be lost: set sync=on", "rows may be cut: set strict=on"});
  (void)ours_->try_acquire(key_);
  metrics_.await_counter("rowlock_weak_settings_total", {}, 2);
}

TEST_F(Metrics, CountMissedEvents) {
  EXPECT_EQ(metrics_.counter("rowlock_missed_events_total"), 0);
  metrics_.observer()->missed(3);
  metrics_.observer()->missed(4);
  EXPECT_EQ(metrics_.counter("rowlock_missed_events_total"), 7);
}

TEST_F(Metrics, OfATypeAndModeBeginTogetherAtZero) {
  (void)ours_->try_acquire(key_);
  close();
  EXPECT_EQ(metrics_.counter("rowlock_losses_total", job_with("reason", "taken_away")), 0);
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("lease", "timed_out")), 0);
  EXPECT_THROW((void)metrics_.counter("rowlock_grants_total", job_in("row_lock")),
               std::runtime_error);
}

class MetricsOfTransactions : public Metrics {
 protected:
  template <class Work>
  void observe(const Work& work) {
    const transaction_observation observing{metrics_.observer()};
    work();
  }
};

TEST_F(MetricsOfTransactions, CountRowLocksWithTheirWaitsAndHolds) {
  observe([this] {
    (void)with_row_lock<memory_transaction>(rows_.rows(), key_, [](memory_transaction&) {});
    (void)with_row_lock<memory_transaction>(rows_.rows(), key_,
                                            [](memory_transaction& work) { work.abort(); });
    const auto held = *theirs_.try_acquire(key_);
    (void)with_row_lock<memory_transaction>(rows_.rows(), key_, [](memory_transaction&) {});
  });
  EXPECT_EQ(metrics_.counter("rowlock_grants_total", job_in("row_lock")), 2);
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("row_lock", "held")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_transactions_total", ended_job("row_lock", "committed")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_transactions_total", ended_job("row_lock", "rolled_back")),
            1);
  EXPECT_EQ(metrics_.histogram("rowlock_wait_seconds", job_in("row_lock")).count, 3);
  EXPECT_EQ(metrics_.histogram("rowlock_hold_seconds", job_in("row_lock")).count, 2);
}

TEST_F(MetricsOfTransactions, MeasureTheWaitAndTheHoldOfARowLock) {
  const auto event = [this](transaction_result result) {
    metrics_.observer()->transaction(
        {.result = result, .key = key_, .took = 2s, .held_for = 500ms, .refusal = refusal{}});
  };
  event(transaction_result::granted);
  event(transaction_result::refused);
  event(transaction_result::committed);
  event(transaction_result::rolled_back);
  event(transaction_result::conflict);
  EXPECT_EQ(metrics_.histogram("rowlock_wait_seconds", job_in("row_lock")).sum, 4.0);
  EXPECT_EQ(metrics_.histogram("rowlock_hold_seconds", job_in("row_lock")).sum, 1.5);
}

TEST_F(MetricsOfTransactions, CountOptimisticCommitsAndConflicts) {
  observe([this] {
    (void)with_optimistic_commit<memory_transaction>(rows_.rows(), key_,
                                                     [](memory_transaction&) {});
    memory_transaction work{rows_.rows()};
    EXPECT_EQ(try_commit(work, key_, version{1}), commit_result::stale);
  });
  EXPECT_EQ(metrics_.counter("rowlock_grants_total", job_in("optimistic_commit")), 1);
  EXPECT_EQ(
      metrics_.counter("rowlock_transactions_total", ended_job("optimistic_commit", "committed")),
      1);
  EXPECT_EQ(
      metrics_.counter("rowlock_transactions_total", ended_job("optimistic_commit", "conflict")),
      1);
}

TEST_F(MetricsOfTransactions, CountFencesAndThoseOfLostLeases) {
  observe([this] {
    const auto held = *ours_->try_acquire(key_);
    const auto fenced = [&] {
      memory_transaction work{rows_.rows()};
      fence(work, held);
      work.commit();
    };
    fenced();
    rows_.rows().force_release({.key = key_, .version = held.token(), .reason = "a test"});
    EXPECT_THROW(fenced(), lease_lost);
  });
  EXPECT_EQ(metrics_.counter("rowlock_grants_total", job_in("fence")), 1);
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("fence", "lost")), 1);
}

TEST_F(MetricsOfTransactions, CountTriesOfRetryAndThatItGaveUpWithoutAType) {
  observe([] {
    (void)retry({.attempts = 3, .first_pause = 1ms}, [] { return commit_result::stale; });
  });
  EXPECT_EQ(metrics_.counter("rowlock_transactions_total",
                             {{"mode", "retry"}, {"result", "conflict"}, {"type", ""}}),
            3);
  EXPECT_EQ(metrics_.counter("rowlock_refusals_total",
                             {{"mode", "retry"}, {"reason", "gave_up"}, {"type", ""}}),
            1);
}

TEST_F(MetricsOfTransactions, CountEveryReasonOfARefusal) {
  for (const auto reason :
       {refusal_reason::held, refusal_reason::busy, refusal_reason::stale,
        refusal_reason::timed_out, refusal_reason::stopped, refusal_reason::already_done,
        refusal_reason::missing, refusal_reason::deadlock}) {
    metrics_.observer()->transaction({.work = transaction_work::entity_lock,
                                      .result = transaction_result::refused,
                                      .key = key_,
                                      .refusal = refusal{.reason = reason, .key = key_}});
  }
  for (const auto* reason :
       {"held", "busy", "stale", "timed_out", "stopped", "already_done", "missing", "deadlock"}) {
    EXPECT_EQ(metrics_.counter("rowlock_refusals_total", refused_job("entity_lock", reason)), 1)
        << reason;
  }
}

TEST_F(MetricsOfTransactions, HaveTheTableOfAnEntityLock) {
  metrics_.observer()->transaction({.work = transaction_work::entity_lock,
                                    .key = {.type = "public.person", .source_id = "7"},
                                    .took = 2s});
  EXPECT_EQ(
      metrics_
          .histogram("rowlock_wait_seconds", {{"mode", "entity_lock"}, {"type", "public.person"}})
          .sum,
      2.0);
}

TEST_F(Metrics, CountScopesAndNumbersTogether) {
  (void)ours_->try_acquire({"job#1", "a"});
  (void)ours_->try_acquire({"job#2", "a"});
  (void)ours_->try_acquire(scoped("eu-1", {"job", "a"}));
  (void)ours_->try_acquire(scoped("us-2", {"job#1", "a"}));
  close();
  EXPECT_EQ(grants("job"), 4);
}

TEST_F(Metrics, NameAHundredTypesAndCountAllOthersTogether) {
  for (int i = 0; i < 150; ++i) {
    grant("type-" + std::to_string(i));
  }
  grant("type-0");
  const auto types = metrics_.values_of("type");
  EXPECT_EQ(types.size(), prometheus_observer::most_types + 1);
  EXPECT_TRUE(types.contains("type-99"));
  EXPECT_FALSE(types.contains("type-100"));
  EXPECT_EQ(grants("other"), 50);
  EXPECT_EQ(grants("type-0"), 2);
}

TEST_F(Metrics, CountATypeNamedOtherWithAllOthersAndNotAsOneOfTheHundred) {
  grant("other");
  for (int i = 0; i < 101; ++i) {
    grant("type-" + std::to_string(i));
  }
  EXPECT_EQ(metrics_.values_of("type").size(), prometheus_observer::most_types + 1);
  EXPECT_EQ(grants("other"), 2);
}

TEST_F(Metrics, OfTwoObserversOfOneRegistryAreTheSame) {
  prometheus_observer second{metrics_.registry()};
  metrics_.observer()->acquired({.key = key_});
  second.acquired({.key = key_});
  EXPECT_EQ(grants("job"), 2);
}

TEST_F(Metrics, StayInTheRegistryWhenTheObserverIsGone) {
  std::make_unique<prometheus_observer>(metrics_.registry())->acquired({.key = key_});
  EXPECT_EQ(grants("job"), 1);
}

TEST_F(Metrics, CountTheEventsOfSeveralThreads) {
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([this] {
        for (int j = 0; j < 1000; ++j) grant("type-" + std::to_string(j % 200));
      });
    }
  }
  double counted = 0;
  for (const auto& type : metrics_.values_of("type")) counted += grants(type);
  EXPECT_EQ(counted, 4000);
}

TEST(PrometheusObserver, OfNoRegistryIsMisuse) {
  EXPECT_EQ(error_of([] { const prometheus_observer none{nullptr}; }).kind, errc::misuse);
}

TEST(PrometheusObserver, SaysWhenTheRegistryHasAnotherMetricOfAName) {
  const auto registry = std::make_shared<::prometheus::Registry>();
  ::prometheus::BuildGauge().Name("rowlock_grants_total").Register(*registry);
  const auto thrown = error_of([&] { const prometheus_observer none{registry}; });
  EXPECT_EQ(thrown.kind, errc::misuse);
  EXPECT_NE(thrown.message().find("use another"), std::string::npos) << thrown.message();
}

TEST(PrometheusObserver, OfARegistryThatMergesNothingIsTheOnlyOne) {
  const auto registry =
      std::make_shared<::prometheus::Registry>(::prometheus::Registry::InsertBehavior::Throw);
  const prometheus_observer first{registry};
  EXPECT_EQ(error_of([&] { const prometheus_observer second{registry}; }).kind, errc::misuse);
}

}  // namespace
}  // namespace rowlock::tests
