// What a lease that its holder has lost is to a fence, and what a fence that finds a loss is to it.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_table.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

/// The holder's clock is the test's, the database's is its own: so a deadline comes while the row
/// is still the holder's, and no other process can have the key.
class LostFence : public store_test {
 protected:
  using proof = std::function<void(app_transaction&, const lease&)>;

  static std::array<proof, 2> proofs() {
    return {[](app_transaction& work, const lease& held) { work.fence(held); },
            [](app_transaction& work, const lease& held) { work.release_with(held); }};
  }
  static std::vector<fenced_run_options> ways_to_run() {
    return {{}, {.fence_first = true}, {.release = true}};
  }
  static bool is_refused_as_lost(const std::function<void()>& call) {
    try {
      call();
    } catch (const lease_lost&) {
      return true;
    }
    return false;
  }
  bool is_still_theirs(const lease& held) {
    const auto row = rows_->read(std::array{held.key()}).front();
    return row && row->owned && row->version == held.token();
  }
  void expect_no_proof_of(const lease& held) {
    ASSERT_FALSE(held.is_valid());
    ASSERT_TRUE(is_still_theirs(held));
    for (const auto& prove : proofs()) {
      auto work = *application_->begin();
      work->write_note("by a holder that has lost the key");
      EXPECT_TRUE(is_refused_as_lost([&] { prove(*work, held); }));
      EXPECT_ANY_THROW(work->commit());  // even if a caller swallowed the exception
    }
    for (const auto& options : ways_to_run()) {
      bool ran = false;
      EXPECT_TRUE(is_refused_as_lost([&] {
        application_->run_fenced(
            held,
            [&](app_transaction&) {
              ran = true;
              return 0;
            },
            options);
      }));
      EXPECT_FALSE(ran);
    }
    EXPECT_TRUE(application_->notes().empty());
    EXPECT_TRUE(is_still_theirs(held));
  }
  void take_over() {
    bench_->run_out(key_);
    ASSERT_EQ(acquire(key_, make_owner_id()).status, acquire_status::granted);
  }
  static void await_loss_of(const lease& held) {
    ASSERT_TRUE(comes([&] { return held.lost().stop_requested(); })) << "never notified";
  }

  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  lock_table locks_{*rows_, {.ttl = 1h, .renew = false, .time = time_}};
  std::unique_ptr<app_connection> application_ = bench_->connect();
};

TEST_P(LostFence, ProvesNoLeaseWhoseDeadlineHasComeThoughNobodyHasTakenItOver) {
  const lease held = *locks_.try_acquire(key_);
  time_->advance(1h);
  expect_no_proof_of(held);
}

TEST_P(LostFence, ProvesNoLeasePastItsAtMostThoughNobodyHasTakenItOver) {
  lock_table renewing{*rows_, {.ttl = 1h, .renew_for = 2h, .time = time_}};
  const lease held = *renewing.try_acquire(key_);
  const auto granted_until = held.valid_until();
  time_->advance(30min);
  ASSERT_TRUE(comes([&] { return held.valid_until() > granted_until; })) << "never renewed";
  time_->advance(2h);
  expect_no_proof_of(held);
}

TEST_P(LostFence, ProvesNoneOfSeveralLeasesWhenOneIsLost) {
  const lease kept = *locks_.try_acquire(key_, {.ttl = 3h});
  const lease lost = *locks_.try_acquire(other_key_);
  time_->advance(1h);
  auto work = *application_->begin();
  EXPECT_TRUE(is_refused_as_lost([&] { work->fence({std::cref(kept), std::cref(lost)}); }));
  EXPECT_TRUE(kept.is_valid());
}

TEST_P(LostFence, BeforeTheWorkLetsNothingCommitWhenTheDeadlineComesDuringTheWork) {
  const lease held = *locks_.try_acquire(key_);
  EXPECT_TRUE(is_refused_as_lost([&] {
    application_->run_fenced(held,
                             [&](app_transaction& work) {
                               work.write_note("too late");
                               time_->advance(1h);
                               return 0;
                             },
                             {.fence_first = true});
  }));
  EXPECT_TRUE(application_->notes().empty());
}

TEST_P(LostFence, ThatFindsAnotherVersionMarksTheLeaseLostAtOnce) {
  for (const auto& prove : proofs()) {
    const lease held = *locks_.try_acquire(key_);
    take_over();
    auto work = *application_->begin();
    EXPECT_TRUE(is_refused_as_lost([&] { prove(*work, held); }));
    EXPECT_FALSE(held.is_valid());
    await_loss_of(held);
    bench_->run_out(key_);
  }
}

TEST_P(LostFence, OfARunThatFindsAnotherVersionMarksTheLeaseLostAtOnce) {
  for (const auto& options : ways_to_run()) {
    const lease held = *locks_.try_acquire(key_);
    take_over();
    EXPECT_TRUE(is_refused_as_lost([&] {
      application_->run_fenced(
          held, [](app_transaction&) { return 0; }, options);
    }));
    EXPECT_FALSE(held.is_valid());
    await_loss_of(held);
    bench_->run_out(key_);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LostFence);
INSTANTIATE_TEST_SUITE_P(Stores, LostFence, testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
