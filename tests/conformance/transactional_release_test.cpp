// What becomes of a lease after a transaction that was to release it was rolled back.
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "conformance/store_test.hpp"
#include "rowlock/lock_table.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

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
  static void await_loss_of(const lease& held) {
    const auto end = boot_clock::now() + patience;
    while (!held.lost().stop_requested()) {
      ASSERT_LT(boot_clock::now(), end) << "never notified";
      std::this_thread::sleep_for(1ms);
    }
  }

  lock_table locks_{*rows_, {.ttl = 1h, .renew = false}};
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
  lock_table renewing{*rows_, {.ttl = 2s, .margin = 1ms}};
  lease held = *renewing.try_acquire(key_);
  roll_back_a_release_of(held);
  let_another_come_and_go(held.token());
  await_loss_of(held);
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
  lock_table locks{*rows_, {.ttl = 2s, .margin = 1ms}};
  lease held = *locks.try_acquire(key_);
  roll_back_a_release_of(held);
  const auto end = boot_clock::now() + patience;
  for (const auto granted = held.valid_until(); held.valid_until() == granted;) {
    ASSERT_LT(boot_clock::now(), end) << "never renewed";
    std::this_thread::sleep_for(1ms);
  }
  bench_->run_out(key_);
  ASSERT_EQ(acquire(key_, make_owner_id()).status, acquire_status::granted);
  await_loss_of(held);
  EXPECT_EQ(held.release(), release_result::lost);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransactionalRelease);
INSTANTIATE_TEST_SUITE_P(Stores, TransactionalRelease,
                         testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
