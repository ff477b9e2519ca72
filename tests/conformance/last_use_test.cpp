// What a row tells people: who has it and since when, and who had it before.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

/// One way to grant a row.
struct granting {
  const char* name;
  std::function<void(store&, const acquire_request&)> grant;
};

const std::vector<granting>& every_granting() {
  static const std::vector<granting> all{
      {"a missing row",
       [](store& rows, const acquire_request& wanted) { rows.acquire(std::array{wanted}); }},
      {"a row that exists",
       [](store& rows, const acquire_request& wanted) {
         rows.read(std::array{wanted.key}, read_mode::ready_to_commit);
         rows.acquire(std::array{wanted});
       }},
      {"at a version",
       [](store& rows, const acquire_request& wanted) {
         auto at_version = wanted;
         at_version.expected =
             rows.read(std::array{wanted.key}, read_mode::ready_to_commit).front()->version;
         rows.acquire(std::array{at_version});
       }},
      {"of several requests",
       [](store& rows, const acquire_request& wanted) {
         auto other = wanted;
         other.key.source_id += " of another";
         other.correlation_id = "another";
         rows.acquire(std::array{other, wanted});
       }},
      {"of several requests for rows that exist",
       [](store& rows, const acquire_request& wanted) {
         auto other = wanted;
         other.key.source_id += " of another";
         other.correlation_id = "";
         rows.read(std::array{wanted.key, other.key}, read_mode::ready_to_commit);
         rows.acquire(std::array{other, wanted});
       }},
      {"all of a set",
       [](store& rows, const acquire_request& wanted) {
         auto other = wanted;
         other.key.source_id += " of another";
         rows.acquire(std::array{other, wanted}, {acquire_mode::all_or_none});
       }},
      {"one of a set",
       [](store& rows, const acquire_request& wanted) {
         rows.acquire(std::array{wanted}, {acquire_mode::any, 1});
       }},
      {"one of a set of rows that exist",
       [](store& rows, const acquire_request& wanted) {
         rows.read(std::array{wanted.key}, read_mode::ready_to_commit);
         rows.acquire(std::array{wanted}, {acquire_mode::any, 1});
       }},
      {"by a handoff",
       [](store& rows, const acquire_request& wanted) {
         const acquire_request before{
             .key = wanted.key, .owner = make_owner_id(), .holder = "before", .ttl = 1h};
         const auto held = rows.acquire(std::array{before}).front().version.value();
         rows.handoff({.ended = {.key = wanted.key, .owner = before.owner, .version = held},
                       .next = wanted});
       }},
  };
  return all;
}

class LastUse : public store_test {
 protected:
  acquire_request request(const lock_key& key) {
    return {.key = key,
            .owner = mine_,
            .holder = "web1:4711",
            .ttl = 1h,
            .correlation_id = "request 7 \xc3\xa9"};
  }

  void release_mine(bool failed = false, std::chrono::microseconds stay_closed = {}) {
    const release_request request{.key = key_,
                                  .owner = mine_,
                                  .version = row(key_).version,
                                  .failed = failed,
                                  .stay_closed = stay_closed};
    ASSERT_EQ(rows_->release(std::array{request}).at(0), change_answer::done);
  }

  force_answer take_by_force() {
    return rows_->force_release({key_, row(key_).version, "web1 is gone (by ann)"});
  }

  last_use last() { return row(key_).last.value_or(last_use{.how = "none"}); }
};

TEST_P(LastUse, OfARowThatNobodyHadIsNone) {
  unowned(key_);
  EXPECT_FALSE(row(key_).last);
  EXPECT_FALSE(row(key_).held_for);
  EXPECT_FALSE(row(key_).ttl);
  EXPECT_FALSE(row(key_).silent_for());
}

TEST_P(LastUse, WhileItIsHeldTheRowSaysForHowLongAndWhatFor) {
  for (const auto& [name, grant] : every_granting()) {
    const lock_key key{"invoice", name};
    grant(*rows_, request(key));
    const auto held = row(key);
    EXPECT_EQ(held.holder, "web1:4711") << name;
    EXPECT_EQ(held.ttl, 1h) << name;
    EXPECT_EQ(held.correlation_id, "request 7 \xc3\xa9") << name;
    EXPECT_TRUE(held.held_for) << name;
    EXPECT_EQ(held.silent_for(), 1h - held.remaining.value()) << name;
    EXPECT_FALSE(held.last) << name;
  }
}

TEST_P(LastUse, WithoutACorrelationIdItIsEmptyAgain) {
  rows_->acquire(std::array{request(key_)});
  release_mine();
  granted(key_, theirs_);
  EXPECT_EQ(row(key_).correlation_id, "");
}

TEST_P(LastUse, ARenewalSetsTheTimeThatItIsFor) {
  const auto held = granted(key_, mine_);
  ASSERT_EQ(renew(key_, mine_, held, 2h), change_answer::done);
  EXPECT_EQ(row(key_).ttl, 2h);
  const auto others = granted(other_key_, mine_);
  const std::array both{renew_request{key_, mine_, held, 3h},
                        renew_request{other_key_, mine_, others, 4h}};
  rows_->renew(both);
  EXPECT_EQ(row(key_).ttl, 3h);
  EXPECT_EQ(row(other_key_).ttl, 4h);
}

TEST_P(LastUse, IsTheHolderThatReleasedIt) {
  rows_->acquire(std::array{request(key_)});
  const auto since = row(key_).acquired_at;
  release_mine();
  EXPECT_EQ(last().holder, "web1:4711");
  EXPECT_EQ(last().from, since);
  EXPECT_EQ(last().until.size(), since.size());
  EXPECT_EQ(last().how, "released");
  EXPECT_TRUE(last().held_for);
  EXPECT_EQ(row(key_).holder, "");
  EXPECT_EQ(row(key_).acquired_at, "");
}

TEST_P(LastUse, IsTheHolderWhoseWorkFailed) {
  granted(key_, mine_);
  release_mine(true);
  EXPECT_EQ(last().how, "failed");
  granted(key_, mine_);
  release_mine();
  EXPECT_EQ(last().how, "released");
}

TEST_P(LastUse, OfSeveralRowsReleasedAtOnceIsThatOfEach) {
  const std::array both{
      release_request{.key = key_, .owner = mine_, .version = granted(key_, mine_)},
      release_request{.key = other_key_,
                      .owner = mine_,
                      .version = granted(other_key_, mine_),
                      .failed = true}};
  rows_->release(both);
  EXPECT_EQ(last().how, "released");
  EXPECT_EQ(row(other_key_).last.value().how, "failed");
}

TEST_P(LastUse, OfARowThatStaysClosedIsTheHolderBefore) {
  granted(key_, mine_);
  release_mine(false, 1h);
  EXPECT_EQ(last().holder, "host:1");
  EXPECT_EQ(last().how, "released");
}

TEST_P(LastUse, IsTheHolderFromWhichItWasTakenByForce) {
  rows_->acquire(std::array{request(key_)});
  ASSERT_EQ(take_by_force(), force_answer::released);
  EXPECT_EQ(last().holder, "web1:4711");
  EXPECT_EQ(last().how, "forced");
  EXPECT_EQ(row(key_).forced_from, "web1:4711");
  EXPECT_EQ(row(key_).forced_at.size(), last().until.size());
}

TEST_P(LastUse, WhatWasTakenByForceIsShownAfterTheNextHolderToo) {
  rows_->acquire(std::array{request(key_)});
  take_by_force();
  const auto when = row(key_).forced_at;
  touch(key_);
  EXPECT_EQ(last().how, "released");
  EXPECT_EQ(row(key_).forced_from, "web1:4711");
  EXPECT_EQ(row(key_).forced_at, when);
  EXPECT_EQ(row(key_).force_reason, "web1 is gone (by ann)");
}

TEST_P(LastUse, OfAClosedRowThatIsOpenedByForceEndedBefore) {
  rows_->acquire(std::array{request(key_)});
  release_mine(false, 1h);
  const auto before = last();
  ASSERT_EQ(take_by_force(), force_answer::released);
  EXPECT_EQ(last().how, "released");
  EXPECT_EQ(last().until, before.until);
  EXPECT_EQ(row(key_).forced_from, "web1:4711");
}

TEST_P(LastUse, IsTheHolderWhoseLeaseHadRunOutWhenItIsFound) {
  rows_->acquire(std::array{request(key_)});
  bench_->run_out(key_);
  EXPECT_FALSE(row(key_).last);
  prepare(key_);
  EXPECT_EQ(last().holder, "web1:4711");
  EXPECT_EQ(last().how, "ran out");
}

class LastUseByATransaction : public store_test {};

TEST_P(LastUseByATransaction, IsItsRowLockOnceItHasCommitted) {
  for (const auto& key : {key_, other_key_}) touch(key);
  locked_rows locked{*bench_, {key_, other_key_, {"invoice", "new"}}};
  EXPECT_EQ(row(key_).last.value().how, "released");
  locked.commit();
  for (const auto& key : {key_, other_key_, lock_key{"invoice", "new"}}) {
    EXPECT_EQ(row(key).last.value().how, "locked");
    EXPECT_EQ(row(key).last->holder, "");
    EXPECT_EQ(row(key).last->from, "");
    EXPECT_FALSE(row(key).last->held_for);
    EXPECT_FALSE(row(key).last->until.empty());
  }
}

TEST_P(LastUseByATransaction, IsItsOptimisticCommit) {
  touch(key_);
  const auto connection = bench_->connect();
  ASSERT_TRUE(
      connection->with_optimistic_commit(key_, [](app_transaction&) { return 0; }).acquired());
  EXPECT_EQ(row(key_).last.value().how, "committed");
  EXPECT_EQ(row(key_).last->holder, "");
}

TEST_P(LastUseByATransaction, IsItsCommitAlsoAfterTheKeyStayedClosed) {
  const release_request closing{
      .key = key_, .owner = theirs_, .version = granted(key_, theirs_), .stay_closed = 1h};
  ASSERT_EQ(rows_->release(std::array{closing}).at(0), change_answer::done);
  bench_->run_out(key_);
  const auto connection = bench_->connect();
  const auto commit = [&] {
    return connection->with_optimistic_commit(key_, [](app_transaction&) { return 0; }).acquired();
  };
  EXPECT_TRUE(commit());
  EXPECT_EQ(row(key_).last.value().how, "committed");
  EXPECT_TRUE(bench_->is_blank(key_));
  EXPECT_TRUE(commit());
}

INSTANTIATE_TEST_SUITE_P(Stores, LastUse, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LastUseByATransaction);
INSTANTIATE_TEST_SUITE_P(Stores, LastUseByATransaction,
                         testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
