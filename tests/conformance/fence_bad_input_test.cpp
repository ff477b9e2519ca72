// A fence with a lease or a transaction that is no good says so, and then nothing commits.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "support/caught_error.hpp"

namespace rowlock::tests {
namespace {

class FenceBadInput : public store_test {
 protected:
  using proof = void (*)(app_transaction&, const fenced_leases&);
  static constexpr std::array<proof, 2> proofs{
      [](app_transaction& work, const fenced_leases& leases) { work.fence(leases); },
      [](app_transaction& work, const fenced_leases& leases) { work.release_with(leases); }};

  std::unique_ptr<app_transaction> begin_with_note() {
    auto begun = *application_->begin();
    begun->write_note("must not commit");
    return begun;
  }

  /// It threw; a caller that swallows that must not be able to commit.
  void expect_dead(std::unique_ptr<app_transaction> work) {
    EXPECT_ANY_THROW(work->commit());
    work.reset();
    EXPECT_TRUE(application_->notes().empty());
  }

  lock_table locks_{*rows_, {.ttl = 1h, .renew = false}};
  std::unique_ptr<app_connection> application_ = bench_->connect();
};

TEST_P(FenceBadInput, WithAReleasedLeaseIsALeaseLost) {
  lease held = *locks_.try_acquire(key_);
  ASSERT_EQ(held.release(), release_result::released);
  for (const auto prove : proofs) {
    auto work = begin_with_note();
    EXPECT_EQ(kind_thrown_by([&] { prove(*work, held); }), errc::lease_lost);
    expect_dead(std::move(work));
  }
}

TEST_P(FenceBadInput, WithALeaseThatThisDatabaseDoesNotKnowIsALeaseLost) {
  const auto elsewhere = GetParam().make();
  const auto foreign_rows = elsewhere->open();
  lock_table foreign{*foreign_rows, {.ttl = 1h, .renew = false}};
  const lease missing_here = *foreign.try_acquire({"job", "elsewhere"});
  const lease ours = *locks_.try_acquire(key_);
  lease other_here = *foreign.try_acquire(key_);
  const auto are_different = [&] { return other_here.token() != ours.token(); };
  await_that(are_different, [&] {  // two clocks may show the same time
    other_here.release();
    other_here = *foreign.try_acquire(key_);
  });
  for (const auto prove : proofs) {
    for (const auto* unknown : {&missing_here, &std::as_const(other_here)}) {
      auto work = begin_with_note();
      EXPECT_EQ(kind_thrown_by([&] { prove(*work, *unknown); }), errc::lease_lost);
      expect_dead(std::move(work));
    }
  }
  EXPECT_TRUE(ours.is_valid());
}

TEST_P(FenceBadInput, InATransactionThatAFenceHasEndedIsMisuse) {
  const lease held = *locks_.try_acquire(key_);
  lease released = *locks_.try_acquire({"job", "released"});
  released.release();
  for (const auto prove : proofs) {
    auto work = begin_with_note();
    EXPECT_EQ(kind_thrown_by([&] { work->fence(released); }), errc::lease_lost);
    EXPECT_EQ(kind_thrown_by([&] { prove(*work, held); }), errc::misuse);
    expect_dead(std::move(work));
  }
  EXPECT_TRUE(held.is_valid());
}

TEST_P(FenceBadInput, InATransactionThatHasCommittedIsMisuse) {
  const lease held = *locks_.try_acquire(key_);
  for (const auto prove : proofs) {
    auto work = *application_->begin();
    work->commit();
    EXPECT_EQ(kind_thrown_by([&] { prove(*work, held); }), errc::misuse);
  }
  EXPECT_TRUE(held.is_valid());
}

TEST_P(FenceBadInput, AfterTheCommitNothingElseCanBeAskedOfTheTransactionEither) {
  auto work = *application_->begin();
  work->commit();
  EXPECT_EQ(kind_thrown_by([&] { (void)work->lock_rows(key_, no_wait()); }), errc::misuse);
  EXPECT_EQ(kind_thrown_by([&] { (void)work->read_version(key_); }), errc::misuse);
  EXPECT_EQ(kind_thrown_by([&] { (void)work->try_commit(key_, {1}); }), errc::misuse);
  EXPECT_FALSE(read(key_));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FenceBadInput);
INSTANTIATE_TEST_SUITE_P(Stores, FenceBadInput, testing::ValuesIn(stores_with_transactions()),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
