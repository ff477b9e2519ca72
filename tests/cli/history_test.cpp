// The history of locks: what the triggers write, on every database, and how it begins and ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/cli_test.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/operators.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class CliHistoryTest : public LockedCliTest {
 protected:
  void SetUp() override {
    LockedCliTest::SetUp();
    const auto begun = run(rowlock("migrate", {"--with", "history"}));
    ASSERT_EQ(begun.code, 0) << begun.errors;
    ASSERT_EQ(begun.output, "began the history\n");
  }

  [[nodiscard]] long long events(const std::string& where) const {
    return number("select count(*) from shared_lock_event where " + where);
  }
  [[nodiscard]] long long all_events() const { return events("1 = 1"); }

  acquire_answer acquire(const std::string& holder, const owner_id& owner = make_owner_id(),
                         const std::string& correlation_id = {}) {
    const acquire_request request{
        .key = key_, .owner = owner, .holder = holder, .ttl = 1h, .correlation_id = correlation_id};
    return rows_->acquire(std::array{request}).front();
  }
  void run_out() { execute("update shared_lock set expires_at = '2000-01-01 00:00:00.000'"); }

  const lock_key key_{"invoice", "42"};
  const std::unique_ptr<store> rows_ = open();
};

TEST_P(CliHistoryTest, HasEachHoldOnceWhenItIsOver) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  auto held = locks.try_acquire(key_, {.correlation_id = "request 7"});
  EXPECT_EQ(all_events(), 0);
  const auto token = std::to_string(held->token().number);
  ASSERT_EQ(held->release(), release_result::released);
  EXPECT_EQ(all_events(), 1);
  EXPECT_EQ(events("lock_type = 'invoice' and source_id = '42' and what = 'released' and "
                   "holder = 'worker-a' and correlation_id = 'request 7' and reason is null and "
                   "token = " +
                   token + " and version > " + token +
                   " and since is not null and until >= since and at >= since"),
            1);
}

TEST_P(CliHistoryTest, HasWorkThatFailed) {
  lock_table locks{*rows_};
  EXPECT_THROW(locks.with_lock(key_, [](const lease&) { throw std::domain_error{"failed"}; }),
               std::domain_error);
  EXPECT_EQ(events("what = 'failed'"), 1);
}

TEST_P(CliHistoryTest, HasNoRenewalsNotesAndRefusals) {
  lock_table locks{*rows_};
  auto held = locks.try_acquire(key_);
  EXPECT_EQ(held->write_note("step 1"), note_result::written);
  EXPECT_EQ(acquire("rival").status, acquire_status::held);
  EXPECT_EQ(all_events(), 0);
}

TEST_P(CliHistoryTest, HasALeaseThatRanOutWithItsHolderAndItsEnd) {
  acquire("worker-a");
  run_out();
  acquire("worker-b");
  EXPECT_EQ(all_events(), 1);
  EXPECT_EQ(events("what = 'ran out' and holder = 'worker-a' and until < '2000-01-02' and "
                   "at > '2000-01-02'"),
            1);
}

TEST_P(CliHistoryTest, HasALeaseThatRanOutAndIsTakenByTheSameAttempt) {
  const auto owner = make_owner_id();
  acquire("worker-a", owner);
  run_out();
  acquire("worker-a", owner);
  EXPECT_EQ(events("what = 'ran out'"), 1);
}

TEST_P(CliHistoryTest, HasAHandoffAsTheEndOfTheFirstHold) {
  const auto owner = make_owner_id();
  const auto granted = acquire("worker-a", owner).version.value();
  const auto handed = rows_->handoff(
      {.ended = {.key = key_, .owner = owner, .version = granted},
       .next = {.key = key_, .owner = make_owner_id(), .holder = "worker-b", .ttl = 1h}});
  ASSERT_EQ(handed.ended, change_answer::done);
  EXPECT_EQ(all_events(), 1);
  // Where a handoff takes two writes, the first is a release.
  EXPECT_EQ(events("what in ('handed over', 'released') and holder = 'worker-a'"), 1);
}

TEST_P(CliHistoryTest, HasWhatWasTakenByForceFromWhomAndWhy) {
  const auto held = acquire("worker-a").version.value();
  force_release(*rows_, key_, held, "its host is gone", "ann");
  EXPECT_EQ(all_events(), 1);
  EXPECT_EQ(events("what = 'forced' and holder = 'worker-a' and token = " +
                   std::to_string(held.number) + " and reason = 'its host is gone (by ann)'"),
            1);
  lock_table{*rows_}.try_acquire(key_)->release();
  EXPECT_EQ(events("what = 'released' and reason is null"), 1);
}

TEST_P(CliHistoryTest, HasThatAKeyStayedClosedAndWasOpenedByForce) {
  const auto owner = make_owner_id();
  const auto granted = acquire("worker-a", owner).version.value();
  rows_->release(std::array{
      release_request{.key = key_, .owner = owner, .version = granted, .stay_closed = 1h}});
  EXPECT_EQ(events("what = 'released'"), 1);
  EXPECT_EQ(events("what = 'closed' and holder = 'worker-a' and until > at"), 1);
  force_release(*rows_, key_, show(*rows_, key_)->version, "needed now", "ann");
  EXPECT_EQ(events("what = 'forced' and holder = 'worker-a' and since is null"), 1);
  EXPECT_EQ(all_events(), 3);
}

TEST_P(CliHistoryTest, HasThatWorkWasDone) {
  lock_table locks{*rows_, {.holder = "worker-a"}};
  ASSERT_TRUE(locks.with_lock_once(key_, [](const lease&) {}, {.keep_for = 1h}).acquired());
  EXPECT_EQ(events("what = 'done' and holder = 'worker-a' and until > at"), 1);
  EXPECT_EQ(events("what = 'released'"), 1);
  locks.try_acquire(key_)->release();
  EXPECT_EQ(events("what = 'done'"), 1);
}

TEST_P(CliHistoryTest, HasRowLocksOfNewAndOldRowsAndWhatTheyEnd) {
  database_->lock_and_commit(key_);
  EXPECT_EQ(events("what = 'locked' and since is null and token is null"), 1);
  acquire("worker-a");
  run_out();
  database_->lock_and_commit(key_);
  EXPECT_EQ(events("what = 'ran out' and holder = 'worker-a'"), 1);
  EXPECT_EQ(events("what = 'locked'"), 2);
  EXPECT_EQ(all_events(), 3);
}

TEST_P(CliHistoryTest, HasOptimisticCommits) {
  lock_table{*rows_}.try_acquire(key_)->release();
  database_->commit_optimistically(key_);
  database_->commit_optimistically(key_);
  EXPECT_EQ(events("what = 'committed' and since is null"), 2);
  EXPECT_EQ(all_events(), 3);
}

TEST_P(CliHistoryTest, HasWhatPlainSqlDoes) {
  acquire("worker-a");
  execute(
      "update shared_lock set owner = null, expires_at = '1970-01-01 00:00:00.000', "
      "version = version + 1");
  EXPECT_EQ(events("what = 'released' and holder = 'worker-a'"), 1);
}

TEST_P(CliHistoryTest, IsBegunAndEndedOnceAndKeepsItsEvents) {
  const auto again = run(rowlock("migrate", {"--with", "history"}));
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_THAT(again.output, HasSubstr("nothing to do"));
  lock_table locks{*rows_};
  locks.try_acquire(key_)->release();
  const auto ended = run(rowlock("migrate", {"--without", "history"}));
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("ended the history; its events stay in "));
  locks.try_acquire(key_)->release();
  EXPECT_EQ(all_events(), 1);
  EXPECT_THAT(run(rowlock("migrate", {"--without", "history"})).output, HasSubstr("nothing to do"));
  ASSERT_EQ(run(rowlock("migrate", {"--with", "history"})).code, 0);
  locks.try_acquire(key_)->release();
  EXPECT_EQ(all_events(), 2);
}

// Only PostgreSQL lets a trigger go on without its table. Elsewhere the error says how to go on.
TEST_P(CliHistoryTest, WithoutItsTableSaysWhatToDoOrGoesOn) {
  execute("drop table shared_lock_event");
  const auto refused = run(rowlock("run", {"--type", "invoice", "--source", "42", "--", "true"}));
  if (refused.code == 0) return;
  EXPECT_THAT(refused.errors, HasSubstr("with --with history"));
  EXPECT_THAT(refused.errors, HasSubstr("or "));
}

TEST_P(CliHistoryTest, WithoutItsTableIsEndedByOneCommand) {
  execute("drop table shared_lock_event");
  ASSERT_EQ(run(rowlock("migrate", {"--without", "history"})).code, 0);
  lock_table locks{*rows_};
  EXPECT_EQ(locks.try_acquire(key_)->release(), release_result::released);
}

TEST_P(CliHistoryTest, WithoutItsTableIsBegunAnewByOneCommand) {
  execute("drop table shared_lock_event");
  const auto begun = run(rowlock("migrate", {"--with", "history"}));
  ASSERT_EQ(begun.code, 0) << begun.errors;
  lock_table{*rows_}.try_acquire(key_)->release();
  EXPECT_EQ(all_events(), 1);
}

ROWLOCK_ON_EVERY_DATABASE(CliHistoryTest);

class CliMigrateOptionTest : public CliTest {};

TEST_P(CliMigrateOptionTest, IsMisuseIfItIsUnknownOrBothBegunAndEnded) {
  EXPECT_EQ(run(rowlock("migrate", {"--with", "hystory"})).code, 64);
  EXPECT_EQ(run(rowlock("migrate", {"--with", "history", "--without", "history"})).code, 64);
  EXPECT_EQ(run(rowlock("migrate", {"--with"})).code, 64);
}

TEST_P(CliMigrateOptionTest, IsPrintedBehindTheTable) {
  const auto all = run(rowlock("migrate", {"--print", "--with", "history"})).output;
  const auto table = run(rowlock("migrate", {"--print"})).output;
  EXPECT_TRUE(all.starts_with(table));
  EXPECT_THAT(all, HasSubstr("CREATE TRIGGER"));
  const auto without = run(rowlock("migrate", {"--print", "--without", "history"})).output;
  EXPECT_THAT(without, HasSubstr("DROP TRIGGER"));
  EXPECT_THAT(without, testing::Not(HasSubstr("CREATE")));
}

ROWLOCK_ON_EVERY_DATABASE(CliMigrateOptionTest);

}  // namespace

}  // namespace rowlock::tests
