// A transaction that is fenced with a lease commits only if the lease is still held.
#include "rowlock/fence.hpp"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "support/watched_store.hpp"

namespace rowlock::tests {
namespace {

const lock_key job{"job", "1"};
const lock_key other_job{"job", "2"};

class Fence : public store_test {
 protected:
  lease acquire_lease(const lock_key& key) { return *locks_.try_acquire(key); }

  /// Another process takes over the key, whose lease has run out.
  version take_over(const lock_key& key) {
    bench_->run_out(key);
    return *acquire(key, make_owner_id()).version;
  }

  std::unique_ptr<app_transaction> begin_with_note(const std::string& text) {
    auto begun = *application_->begin();
    begun->write_note(text);
    return begun;
  }

  static bool refuses_as(errc kind, const std::function<void()>& call) {
    try {
      call();
    } catch (const error& fault) {
      return fault.kind() == kind;
    }
    return false;
  }

  bool is_owned(const lock_key& key) { return rows_->read(std::array{key}).front()->owned; }

  // Without renewal, so that nothing but the test changes the rows.
  lock_table locks_{*rows_, {.ttl = 1h, .renew = false}};
  std::unique_ptr<app_connection> application_ = bench_->connect();
};

TEST_P(Fence, LetsATransactionCommitWhileTheLeaseIsHeld) {
  const lease held = acquire_lease(job);
  auto work = begin_with_note("by the holder");
  work->fence(held);
  work->commit();
  EXPECT_EQ(application_->notes(), std::vector<std::string>{"by the holder"});
}

TEST_P(Fence, MovesNoVersionAndEndsNoLease) {
  const lease held = acquire_lease(job);
  auto work = begin_with_note("by the holder");
  work->fence(held);
  work->commit();
  const auto state = rows_->read(std::array{job}).front();
  EXPECT_EQ(state->version, held.token());
  EXPECT_TRUE(state->is_live());
}

TEST_P(Fence, EndsTheTransactionOfAnExHolderAndNothingOfItCommits) {
  const lease held = acquire_lease(job);
  take_over(job);
  auto work = begin_with_note("by the ex-holder");
  EXPECT_TRUE(refuses_as(errc::lease_lost, [&] { work->fence(held); }));
  EXPECT_ANY_THROW(work->commit());  // even if a caller swallowed the exception
  work.reset();
  EXPECT_TRUE(application_->notes().empty());
}

TEST_P(Fence, RefusesALeaseThatWasReleased) {
  lease held = acquire_lease(job);
  held.release();
  auto work = begin_with_note("after the release");
  EXPECT_TRUE(refuses_as(errc::lease_lost, [&] { work->fence(held); }));
}

TEST_P(Fence, RefusesALeaseOfAnotherDatabaseAndNamesBothCauses) {
  const auto elsewhere = GetParam().make();
  const auto foreign_rows = elsewhere->open();
  lock_table foreign{*foreign_rows, {.renew = false}};
  const lease held = *foreign.try_acquire(job);
  auto work = begin_with_note("on the wrong database");
  try {
    work->fence(held);
    FAIL() << "it was not refused";
  } catch (const lease_lost& refused) {
    EXPECT_NE(std::string{refused.what()}.find("taken over"), std::string::npos);
    EXPECT_NE(std::string{refused.what()}.find("another database"), std::string::npos);
  }
  EXPECT_TRUE(held.is_valid()) << "where it was granted it is held";
}

TEST_P(Fence, AcceptsALeaseThatRanOutAsLongAsNobodyTookItOver) {
  const lease held = acquire_lease(job);
  bench_->run_out(job);
  auto work = begin_with_note("late, but the only one");
  work->fence(held);
  work->commit();
  EXPECT_EQ(application_->notes().size(), 1U);
}

TEST_P(Fence, KeepsRivalsOutUntilTheTransactionEnds) {
  const lease held = acquire_lease(job);
  bench_->run_out(job);
  const auto impatient = bench_->open(1ms);
  auto work = begin_with_note("by the holder");
  work->fence(held);
  EXPECT_EQ(acquire(*impatient, job, make_owner_id()).status, acquire_status::busy);
  work->commit();
  EXPECT_EQ(acquire(job, make_owner_id()).status, acquire_status::granted);
}

TEST_P(Fence, MeetsTheRenewalOfItsOwnLeaseWithoutEndingIt) {
  watched_store watched{*rows_};
  lock_table locks{watched, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(job);
  const auto impatient = bench_->open(1ms);
  auto work = begin_with_note("by the holder");
  work->fence(held);
  EXPECT_EQ(renew(*impatient, job, watched.last_owner(), held.token()), change_answer::busy);
  work->commit();
  EXPECT_EQ(renew(job, watched.last_owner(), held.token()), change_answer::done);
}

TEST_P(Fence, TakesSeveralLeasesAndNeedsThemAll) {
  const lease one = acquire_lease(job);
  const lease other = acquire_lease(other_job);
  auto work = begin_with_note("under both");
  work->fence({std::cref(one), std::cref(other)});
  work->commit();
  EXPECT_EQ(application_->notes().size(), 1U);

  take_over(other_job);
  work = begin_with_note("under one of them");
  EXPECT_TRUE(refuses_as(errc::lease_lost, [&] {
    work->fence({std::cref(one), std::cref(other)});
  }));
  work.reset();
  EXPECT_EQ(application_->notes().size(), 1U);
}

TEST_P(Fence, OfNoLeaseOrOfOneKeyTwiceIsMisuse) {
  const lease held = acquire_lease(job);
  EXPECT_TRUE(refuses_as(errc::misuse, [] { fenced_leases{std::span<const lease>{}}; }));
  EXPECT_TRUE(refuses_as(errc::misuse, [&] { fenced_leases({std::cref(held), std::cref(held)}); }));
}

TEST_P(Fence, ReleaseUnsetsTheRowWithTheCommit) {
  lease held = acquire_lease(job);
  auto work = begin_with_note("the last of it");
  work->release_with(held);
  work->commit();
  EXPECT_FALSE(is_owned(job));
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(held.release(), release_result::lost);
}

TEST_P(Fence, ReleaseThatIsRolledBackKeepsTheLease) {
  lease held = acquire_lease(job);
  auto work = begin_with_note("not after all");
  work->release_with(held);
  work.reset();
  EXPECT_TRUE(is_owned(job));
  EXPECT_TRUE(held.is_valid());
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_FALSE(is_owned(job));
}

TEST_P(Fence, ReleaseIsRefusedToAnExHolder) {
  const lease held = acquire_lease(job);
  take_over(job);
  auto work = begin_with_note("by the ex-holder");
  EXPECT_TRUE(refuses_as(errc::lease_lost, [&] { work->release_with(held); }));
  EXPECT_ANY_THROW(work->commit());
  work.reset();
  EXPECT_TRUE(application_->notes().empty());
  EXPECT_TRUE(is_owned(job));
}

class RunFenced : public Fence {};

TEST_P(RunFenced, CommitsAndHandsTheResultBack) {
  const lease held = acquire_lease(job);
  EXPECT_EQ(application_->run_fenced(held,
                                     [](app_transaction& work) {
                                       work.write_note("fenced");
                                       return 42;
                                     },
                                     {}),
            42);
  EXPECT_EQ(application_->notes().size(), 1U);
  EXPECT_TRUE(is_owned(job));
}

TEST_P(RunFenced, CommitsNothingOfAnExHolderWhereverItFences) {
  const app_work write = [](app_transaction& work) {
    work.write_note("by the ex-holder");
    return 0;
  };
  for (const bool first : {false, true}) {
    for (const bool release : {false, true}) {
      const lease held = acquire_lease(job);
      take_over(job);
      EXPECT_TRUE(refuses_as(errc::lease_lost, [&] {
        application_->run_fenced(held, write, {.fence_first = first, .release = release});
      }));
      bench_->run_out(job);
    }
  }
  EXPECT_TRUE(application_->notes().empty());
}

TEST_P(RunFenced, ThrowsTheLossThatTheWorkHasSeenAndNotPassedOn) {
  const lease held = acquire_lease(job);
  take_over(job);
  EXPECT_TRUE(refuses_as(errc::lease_lost, [&] {
    application_->run_fenced(held,
                             [&](app_transaction& work) {
                               try {
                                 work.fence(held);
                               } catch (const lease_lost&) {  // as if it did not matter
                               }
                               return 0;
                             },
                             {});
  }));
}

TEST_P(RunFenced, ReleasesWithTheCommitIfToldTo) {
  lease held = acquire_lease(job);
  application_->run_fenced(held, [](app_transaction&) { return 0; }, {.release = true});
  EXPECT_FALSE(is_owned(job));
  EXPECT_FALSE(held.is_valid());
  EXPECT_EQ(held.release(), release_result::released);
}

TEST_P(RunFenced, LeavesTheCommitToNoCallback) {
  const lease held = acquire_lease(job);
  EXPECT_TRUE(refuses_as(errc::misuse, [&] {
    application_->run_fenced(held,
                             [](app_transaction& work) {
                               work.commit();
                               return 0;
                             },
                             {.release = true});
  }));
  EXPECT_TRUE(held.is_valid());
  EXPECT_TRUE(is_owned(job));
  EXPECT_EQ(application_->run_fenced(held, [](app_transaction&) { return 7; }, {}), 7);
}

TEST_P(RunFenced, RollsBackWhenTheWorkThrowsAndKeepsTheLease) {
  lease held = acquire_lease(job);
  EXPECT_THROW(application_->run_fenced(held,
                                        [](app_transaction& work) -> int {
                                          work.write_note("half of it");
                                          throw std::out_of_range{"the other half"};
                                        },
                                        {.release = true}),
               std::out_of_range);
  EXPECT_TRUE(application_->notes().empty());
  EXPECT_TRUE(held.is_valid());
  EXPECT_TRUE(is_owned(job));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Fence);
INSTANTIATE_TEST_SUITE_P(Stores, Fence, testing::ValuesIn(stores_with_transactions()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RunFenced);
INSTANTIATE_TEST_SUITE_P(Stores, RunFenced, testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
