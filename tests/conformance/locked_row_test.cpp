// Every call, on a row that a transaction has locked: none of them waits for it.
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

/// Its calls are made while another transaction writes, so they do not wait long for a turn.
class LockedRow : public store_test {
 protected:
  const std::shared_ptr<store> rivals_ = bench_->open(20ms);
};
class LockedRowAmongOthers : public LockedRow {};
class RowLockedByAStranger : public LockedRow {};

TEST_P(LockedRow, IsBusyForAcquire) {
  const auto seen = unowned(key_);
  locked_rows locked{*bench_, key_};
  EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::busy);
  EXPECT_EQ(acquire(*rivals_, key_, mine_, seen).status, acquire_status::busy);
  locked.roll_back();
  EXPECT_EQ(row(key_).version, seen);
  EXPECT_EQ(acquire(*rivals_, key_, mine_, seen).status, acquire_status::granted);
}

TEST_P(LockedRow, IsStaleForAcquireExpectingAnotherVersion) {
  const auto seen = unowned(key_);
  const locked_rows locked{*bench_, key_};
  EXPECT_EQ(acquire(*rivals_, key_, mine_, version{seen.number - 1}).status, acquire_status::stale);
}

TEST_P(LockedRow, HasAnotherVersionOnceItsTransactionHasCommitted) {
  const auto seen = unowned(key_);
  locked_rows locked{*bench_, key_};
  locked.commit();
  EXPECT_EQ(acquire(*rivals_, key_, mine_, seen).status, acquire_status::stale);
  EXPECT_EQ(acquire(*rivals_, key_, mine_, locked.version()).status, acquire_status::granted);
}

TEST_P(LockedRow, IsLostForWhoNeverHadIt) {
  const auto seen = unowned(key_);
  const locked_rows locked{*bench_, key_};
  EXPECT_EQ(renew(*rivals_, key_, mine_, seen), change_answer::lost);
  EXPECT_EQ(release(*rivals_, key_, mine_, seen), change_answer::lost);
}

TEST_P(LockedRow, WhoseLeaseRanOutIsBusyForEverybody) {
  const auto my_version = run_out(key_, mine_);
  locked_rows locked{*bench_, key_};
  EXPECT_EQ(acquire(*rivals_, key_, theirs_).status, acquire_status::busy);
  EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::busy);
  EXPECT_EQ(renew(*rivals_, key_, mine_, my_version), change_answer::busy);
  EXPECT_EQ(release(*rivals_, key_, mine_, my_version), change_answer::busy);
}

TEST_P(LockedRow, WhoseLeaseRanOutIsLostForOtherOwnersAndVersions) {
  const auto my_version = run_out(key_, mine_);
  const locked_rows locked{*bench_, key_};
  EXPECT_EQ(renew(*rivals_, key_, theirs_, my_version), change_answer::lost);
  EXPECT_EQ(release(*rivals_, key_, theirs_, my_version), change_answer::lost);
  EXPECT_EQ(renew(*rivals_, key_, mine_, version{my_version.number - 1}), change_answer::lost);
  EXPECT_EQ(release(*rivals_, key_, mine_, version{my_version.number - 1}), change_answer::lost);
}

TEST_P(LockedRow, GivesItsLeaseBackToItsHolderWhenTheTransactionRollsBack) {
  const auto my_version = run_out(key_, mine_);
  locked_rows locked{*bench_, key_};
  locked.roll_back();
  EXPECT_EQ(renew(*rivals_, key_, mine_, my_version), change_answer::done);
  EXPECT_EQ(release(*rivals_, key_, mine_, my_version), change_answer::done);
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(LockedRow, TakesALeaseThatRanOutFromItsHolderWhenTheTransactionCommits) {
  const auto my_version = run_out(key_, mine_);
  locked_rows locked{*bench_, key_};
  locked.commit();
  EXPECT_EQ(renew(*rivals_, key_, mine_, my_version), change_answer::lost);
  EXPECT_EQ(release(*rivals_, key_, mine_, my_version), change_answer::lost);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(row(key_).version, locked.version());
  EXPECT_EQ(row(key_).expiry_count, 1);
}

TEST_P(LockedRow, ThatItsTransactionHasInsertedIsBusyForAcquire) {
  locked_rows locked{*bench_, key_};
  EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::busy);
  locked.roll_back();
  EXPECT_FALSE(read(key_));
  EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::granted);
}

TEST_P(LockedRow, ThatItsTransactionHasInsertedIsMissingForTheOthers) {
  const locked_rows locked{*bench_, key_};
  EXPECT_FALSE(rivals_->read(std::array{key_}).at(0));
  EXPECT_EQ(renew(*rivals_, key_, mine_, locked.version()), change_answer::lost);
  EXPECT_EQ(release(*rivals_, key_, mine_, locked.version()), change_answer::lost);
  EXPECT_FALSE(rivals_->read(std::array{key_}, read_mode::ready_to_commit).at(0));
}

TEST_P(LockedRow, IsReadAndListedAsItWasCommitted) {
  run_out(key_, mine_);
  const auto before = described(row(key_));
  const locked_rows locked{*bench_, key_};
  EXPECT_EQ(described(rivals_->read(std::array{key_}).at(0).value()), before);
  EXPECT_EQ(described(rivals_->list().at(0)), before);
}

TEST_P(LockedRow, IsLeftAloneByPrepare) {
  run_out(key_, mine_);
  const auto before = described(row(key_));
  locked_rows locked{*bench_, key_};
  EXPECT_EQ(described(rivals_->read(std::array{key_}, read_mode::ready_to_commit).at(0).value()),
            before);
  locked.roll_back();
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(LockedRowAmongOthers, DoesNotKeepTheOthersFromBeingGranted) {
  const lock_key missing{"invoice", "44"};
  unowned(key_);
  unowned(other_key_);
  const locked_rows locked{*bench_, key_};
  std::vector<acquire_request> requests;
  for (const auto& key : {other_key_, key_, missing}) {
    requests.push_back({.key = key, .owner = make_owner_id(), .holder = "host:1", .ttl = 1h});
  }
  const auto answers = rivals_->acquire(requests);
  EXPECT_EQ(answers.at(0).status, acquire_status::granted);
  EXPECT_EQ(answers.at(1).status, acquire_status::busy);
  EXPECT_EQ(answers.at(2).status, acquire_status::granted);
}

TEST_P(LockedRowAmongOthers, DoesNotKeepTheOthersFromBeingRenewedAndReleased) {
  const auto my_version = granted(other_key_, mine_, 3h);
  const auto run_out_version = run_out(key_, mine_);
  const locked_rows locked{*bench_, key_};
  const auto renewed = rivals_->renew(std::array{renew_request{key_, mine_, run_out_version, 1h},
                                                 renew_request{other_key_, mine_, my_version, 1h}});
  EXPECT_EQ(renewed.at(0), change_answer::busy);
  EXPECT_EQ(renewed.at(1), change_answer::done);
  const auto released =
      rivals_->release(std::array{release_request{key_, mine_, run_out_version},
                                  release_request{other_key_, mine_, my_version}});
  EXPECT_EQ(released.at(0), change_answer::busy);
  EXPECT_EQ(released.at(1), change_answer::done);
}

TEST_P(LockedRowAmongOthers, DoesNotKeepTheOthersFromBeingPrepared) {
  run_out(other_key_, mine_);
  unowned(key_);
  const lock_key missing{"invoice", "44"};
  const locked_rows locked{*bench_, key_};
  const auto states =
      rivals_->read(std::array{key_, other_key_, missing}, read_mode::ready_to_commit);
  EXPECT_FALSE(states.at(0).value().owned);
  EXPECT_FALSE(states.at(1).value().owned);
  EXPECT_TRUE(states.at(2));
}

TEST_P(RowLockedByAStranger, IsStillHeldByItsLiveLease) {
  granted(key_, theirs_);
  const auto stranger = bench_->lock_as_a_stranger(key_);
  const auto answer = acquire(*rivals_, key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::held);
  EXPECT_EQ(answer.holder, "host:1");
}

TEST_P(RowLockedByAStranger, IsBusyForItsHolderWhoThenGoesOn) {
  const auto my_version = granted(key_, mine_);
  auto stranger = bench_->lock_as_a_stranger(key_);
  EXPECT_EQ(renew(*rivals_, key_, mine_, my_version), change_answer::busy);
  EXPECT_EQ(release(*rivals_, key_, mine_, my_version), change_answer::busy);
  stranger.reset();
  EXPECT_EQ(renew(*rivals_, key_, mine_, my_version), change_answer::done);
  EXPECT_EQ(release(*rivals_, key_, mine_, my_version), change_answer::done);
}

TEST_P(RowLockedByAStranger, IsBusyForItsHolderWhoAsksAgain) {
  const auto my_version = granted(key_, mine_);
  auto stranger = bench_->lock_as_a_stranger(key_);
  const auto answer = acquire(*rivals_, key_, mine_);
  EXPECT_EQ(answer.status, acquire_status::busy);
  stranger.reset();
  EXPECT_EQ(acquire(*rivals_, key_, mine_).version, my_version);
}

TEST_P(RowLockedByAStranger, IsLostForWhoIsNotItsHolder) {
  const auto their_version = granted(key_, theirs_);
  const auto stranger = bench_->lock_as_a_stranger(key_);
  EXPECT_EQ(renew(*rivals_, key_, mine_, their_version), change_answer::lost);
  EXPECT_EQ(release(*rivals_, key_, mine_, their_version), change_answer::lost);
}

TEST_P(RowLockedByAStranger, IsBusyWhenNobodyOwnsIt) {
  unowned(key_);
  auto stranger = bench_->lock_as_a_stranger(key_);
  EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::busy);
  stranger.reset();
  EXPECT_EQ(acquire(*rivals_, key_, mine_).status, acquire_status::granted);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LockedRow);
INSTANTIATE_TEST_SUITE_P(Stores, LockedRow,
                         testing::ValuesIn(alone_and_beside_others(stores_with_transactions())),
                         name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LockedRowAmongOthers);
INSTANTIATE_TEST_SUITE_P(
    Stores, LockedRowAmongOthers,
    testing::ValuesIn(alone_and_beside_others(stores_with_transactions_side_by_side())), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RowLockedByAStranger);
INSTANTIATE_TEST_SUITE_P(
    Stores, RowLockedByAStranger,
    testing::ValuesIn(alone_and_beside_others(stores_with_foreign_transactions())), name_of);

}  // namespace
}  // namespace rowlock::tests
