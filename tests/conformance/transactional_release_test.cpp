// What becomes of a lease after a transaction that was to release it was rolled back.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "conformance/store_test.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/passing_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

/// Remembers which thread made the last release.
class thread_of_release final : public passing_store {
 public:
  using passing_store::passing_store;

  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    made_in_ = std::this_thread::get_id();
    return passing_store::do_release(requests);
  }
  [[nodiscard]] std::thread::id made_in() const { return made_in_; }

 private:
  std::atomic<std::thread::id> made_in_{};
};

class TransactionalRelease : public store_test {
 protected:
  /// An operator takes the key away, and another holder comes and goes.
  void let_another_come_and_go(version taken) {
    ASSERT_EQ(rows_->force_release({.key = key_, .version = taken, .reason = "a test"}),
              force_answer::released);
    come_and_go();
  }
  void come_and_go() {
    const auto theirs = make_owner_id();
    const auto granted = acquire(key_, theirs);
    ASSERT_EQ(granted.status, acquire_status::granted);
    ASSERT_EQ(release(key_, theirs, *granted.version), change_answer::done);
  }
  void roll_back_a_release_of(const lease& held) {
    const auto application = bench_->connect();
    const auto work = *application->begin();
    work->release_with(held);
  }
  void commit_release_of(const fenced_leases& held, const release_options& options = {}) {
    const auto application = bench_->connect();
    const auto work = *application->begin();
    work->release_with(held, options);
    work->commit();
  }
  void renew(const lease& held) {
    const auto until = held.valid_until();
    time_->advance(1h);
    ASSERT_TRUE(comes([&] { return held.valid_until() > until; }, [&] { time_->advance(1ms); }))
        << "never renewed";
  }
  /// Its next renewal is due: it does not end at its deadline.
  void renew_until_lost(const lease& held) {
    time_->advance(1h);
    ASSERT_TRUE(comes([&] { return held.lost().stop_requested(); }, [&] { time_->advance(1ms); }))
        << "never notified";
  }

  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  lock_table locks_{*rows_, {.ttl = 1h, .renew = false}};
  lock_table renewing_{*rows_, {.ttl = 3h, .time = time_}};
};

TEST_P(TransactionalRelease, ThatWasRolledBackIsNotTakenForTheReasonWhyAnotherHadTheKey) {
  lease held = *locks_.try_acquire(key_);
  roll_back_a_release_of(held);
  let_another_come_and_go(held.token());
  EXPECT_EQ(held.release(), release_result::lost);
}

TEST_P(TransactionalRelease, ThatWasRolledBackDoesNotKeepWhatAnotherHad) {
  const auto done = locks_.with_lock(key_, [&](const lease& held) {
    roll_back_a_release_of(held);
    let_another_come_and_go(held.token());
  });
  EXPECT_TRUE(done.acquired());
  EXPECT_FALSE(done.kept());
}

TEST_P(TransactionalRelease, ThatWasRolledBackIsNotTakenForTheReasonOfALossByARenewal) {
  lease held = *renewing_.try_acquire(key_);
  roll_back_a_release_of(held);
  let_another_come_and_go(held.token());
  renew_until_lost(held);
  EXPECT_EQ(held.release(), release_result::lost);
}

TEST_P(TransactionalRelease, ThatCommittedIsARelease) {
  lease held = *locks_.try_acquire(key_);
  commit_release_of(held);
  EXPECT_EQ(held.release(), release_result::released);
}

TEST_P(TransactionalRelease, OfSeveralThatCommittedIsAReleaseOfEach) {
  lease one = *locks_.try_acquire(key_);
  lease other = *locks_.try_acquire(other_key_);
  commit_release_of({std::cref(other), std::cref(one)});
  EXPECT_EQ(one.release(), release_result::released);
  EXPECT_EQ(other.release(), release_result::released);
}

TEST_P(TransactionalRelease, ThatCommittedIsInDoubtOnceAnotherHasHadTheKey) {
  lease held = *locks_.try_acquire(key_);
  commit_release_of(held);
  come_and_go();
  EXPECT_EQ(held.release(), release_result::lost);
}

TEST_P(TransactionalRelease, ThatCommittedAndIsRememberedAsDoneIsARelease) {
  lease held = *locks_.try_acquire(key_);
  commit_release_of(held, {.done_for = 1h});
  come_and_go();
  EXPECT_EQ(held.release(), release_result::released);
}

TEST_P(TransactionalRelease, ThatWasRolledBackDoesNotHideALaterLoss) {
  lease held = *renewing_.try_acquire(key_);
  roll_back_a_release_of(held);
  renew(held);
  bench_->run_out(key_);
  ASSERT_EQ(acquire(key_, make_owner_id()).status, acquire_status::granted);
  renew_until_lost(held);
  EXPECT_EQ(held.release(), release_result::lost);
}

// As long as it may have committed, the end of a lease does not wait for an answer.
TEST_P(TransactionalRelease, ThatWasRolledBackIsOverWithTheNextRenewal) {
  thread_of_release releases{*rows_};
  lock_table locks{releases, {.ttl = 3h, .time = time_}};
  {
    const lease held = *locks.try_acquire(key_);
    roll_back_a_release_of(held);
    renew(held);
    renew(held);  // after all that the one before has to do
  }
  EXPECT_EQ(releases.made_in(), std::this_thread::get_id());
  EXPECT_FALSE(row(key_).owned);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransactionalRelease);
INSTANTIATE_TEST_SUITE_P(Stores, TransactionalRelease,
                         testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
