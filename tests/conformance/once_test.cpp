// Work that is done once, and the transaction in which it is done.
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/store_test.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {
namespace {

class Once : public store_test {
 protected:
  using work = std::function<void(app_transaction&, const lease&)>;

  /// Writes a note in a transaction under the key, as work that is to be done once.
  outcome<void> note_once(const work& then) {
    return ours_.with_lock_once(key_, [&](const lease& held) {
      const auto transaction = *application_->begin();
      transaction->write_note("paid");
      then(*transaction, held);
    });
  }

  const std::unique_ptr<app_connection> application_ = bench_->connect();
  const std::shared_ptr<store> their_rows_ = bench_->open();
  lock_table ours_{*rows_, {.ttl = 1h, .holder = "ours"}};
  lock_table their_locks_{*their_rows_, {.ttl = 1h, .holder = "theirs"}};
  using notes = std::vector<std::string>;
};

TEST_P(Once, IsRefusedToOthersOnceItIsDone) {
  version by;
  ASSERT_TRUE(ours_
                  .with_lock_once(key_,
                                  [&](const lease& held) {
                                    by = held.token();
                                    const auto during = their_locks_.with_lock_once(key_, [] {});
                                    ASSERT_FALSE(during.acquired());
                                    EXPECT_EQ(during.refusal().reason, refusal_reason::held);
                                    EXPECT_EQ(during.refusal().holder, "ours");
                                  })
                  .kept());
  bool has_run = false;
  const auto after = their_locks_.with_lock_once(key_, [&] { has_run = true; });
  ASSERT_FALSE(after.acquired());
  EXPECT_FALSE(has_run);
  EXPECT_EQ(after.refusal().reason, refusal_reason::already_done);
  EXPECT_EQ(after.refusal().done.value().by, by);
  EXPECT_EQ(after.refusal().done->at, row(key_).done->at);
  EXPECT_TRUE(their_locks_.with_lock(key_, [] {}).acquired());
}

TEST_P(Once, ThatThrewCanBeTriedAgain) {
  EXPECT_THROW((void)ours_.with_lock_once(key_, [] { throw std::runtime_error{"no paper"}; }),
               std::runtime_error);
  EXPECT_FALSE(row(key_).done);
  EXPECT_EQ(row(key_).failure_count, 1);
  EXPECT_TRUE(their_locks_.with_lock_once(key_, [] {}).acquired());
}

TEST_P(Once, InATransactionIsDoneWithItsCommit) {
  version by;
  const auto done = note_once([&](app_transaction& transaction, const lease& held) {
    by = held.token();
    transaction.release_with(held, {.done_for = 30min});
    transaction.commit();
    EXPECT_TRUE(row(key_).done);
  });
  EXPECT_TRUE(done.kept());
  EXPECT_EQ(application_->notes(), notes{"paid"});
  const auto after = row(key_);
  EXPECT_FALSE(after.owned);
  ASSERT_TRUE(after.done);
  EXPECT_EQ(after.done->by, by);
  EXPECT_LE(after.done->remaining, 30min);
  EXPECT_EQ(their_locks_.with_lock_once(key_, [] {}).refusal().reason,
            refusal_reason::already_done);
}

TEST_P(Once, InATransactionThatIsRolledBackIsNotDone) {
  EXPECT_THROW((void)note_once([](app_transaction& transaction, const lease& held) {
                 transaction.release_with(held, {.done_for = 30min});
                 throw std::runtime_error{"no paper"};
               }),
               std::runtime_error);
  EXPECT_FALSE(row(key_).done);
  EXPECT_FALSE(row(key_).owned);
  EXPECT_EQ(application_->notes(), notes{});
  EXPECT_TRUE(note_once([](app_transaction& transaction, const lease& held) {
                transaction.release_with(held, {.done_for = 30min});
                transaction.commit();
              }).kept());
  EXPECT_EQ(application_->notes(), notes{"paid"});
}

TEST_P(Once, InATransactionIsUndoneAsLongAsThatIsOpen) {
  const lease held = *ours_.try_acquire(key_);
  const auto transaction = *application_->begin();
  transaction->release_with(held, {.done_for = 30min});
  EXPECT_FALSE(row(key_).done);
  EXPECT_TRUE(row(key_).owned);
  transaction->commit();
  EXPECT_TRUE(row(key_).done);
}

TEST_P(Once, InATransactionOfOursIsDoneWithItsCommit) {
  const lease held = *ours_.try_acquire(key_);
  application_->run_fenced(held,
                           [](app_transaction& transaction) {
                             transaction.write_note("paid");
                             return 0;
                           },
                           {.release = true, .released_as = {.done_for = 30min}});
  EXPECT_FALSE(held.is_valid());
  EXPECT_EQ(row(key_).done.value().by, held.token());
  EXPECT_FALSE(row(key_).owned);
}

TEST_P(Once, ThatAFenceRefusesIsNotDone) {
  const lease held = *ours_.try_acquire(key_);
  ASSERT_EQ(rows_->force_release({.key = key_, .version = held.token(), .reason = "a test"}),
            force_answer::released);
  const auto transaction = *application_->begin();
  EXPECT_THROW(transaction->release_with(held, {.done_for = 30min}), lease_lost);
  EXPECT_FALSE(row(key_).done);
}

TEST_P(Once, ToBeKeptForTooLongIsMisuseOfATransactionWhichStaysUsable) {
  const lease held = *ours_.try_acquire(key_);
  const auto transaction = *application_->begin();
  for (const std::chrono::milliseconds wrong :
       {0ms, -1ms, 24h * 3653 + 1ms, std::chrono::milliseconds::max()}) {
    try {
      transaction->release_with(held, {.done_for = wrong});
      ADD_FAILURE() << wrong.count() << " ms";
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.kind(), errc::misuse);
    }
  }
  transaction->release_with(held, {.done_for = 24h * 3653});
  transaction->commit();
  EXPECT_GT(row(key_).done.value().remaining, 24h * 3652);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Once);
INSTANTIATE_TEST_SUITE_P(Stores, Once, testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
