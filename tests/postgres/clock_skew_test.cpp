// Leases by clocks that may differ: those that ran out are left alone for a while.
#include "postgres/postgres_transaction.hpp"

namespace rowlock::tests {
namespace {

class PostgresClockSkew : public PostgresTransaction {
 protected:
  static constexpr auto skew = 30s;

  void run_out(std::chrono::seconds ago) {
    server_.query("update " + name() + " set expires_at = clock_timestamp() - interval '" +
                  std::to_string(ago.count()) + " seconds' where owner is not null");
  }
  [[nodiscard]] acquire_request by_another(const lock_key& key) const {
    return {.key = key, .owner = make_owner_id(), .holder = "host:2", .ttl = 1h};
  }
  [[nodiscard]] rowlock::postgres_table on_many_clocks() const { return {table(), skew}; }

  postgres_store careful_{postgres_url(), {.table = table(), .clock_skew = skew}};
};

TEST_F(PostgresClockSkew, LeavesALeaseThatRanOutToItsHolderForAWhile) {
  acquire(careful_, key_);
  run_out(1s);
  const auto refused = careful_.acquire(std::array{by_another(key_)}).front();
  EXPECT_EQ(refused.status, acquire_status::held);
  EXPECT_EQ(refused.holder, "host:1");
  EXPECT_GT(refused.remaining.value(), 10s);
  EXPECT_LE(refused.remaining.value(), 29s);
  run_out(31s);
  const auto taken = careful_.acquire(std::array{by_another(key_)}).front();
  EXPECT_EQ(taken.status, acquire_status::granted);
  EXPECT_TRUE(taken.took_over_expired);
}

TEST_F(PostgresClockSkew, HoldsForSeveralKeysAtOnce) {
  acquire(careful_, key_);
  const std::array both{by_another(key_), by_another(other_key_)};
  run_out(1s);
  const auto first = careful_.acquire(both);
  EXPECT_EQ(first[0].status, acquire_status::held);
  EXPECT_EQ(first[1].status, acquire_status::granted);
  run_out(31s);
  EXPECT_EQ(careful_.acquire(both)[0].status, acquire_status::granted);
}

TEST_F(PostgresClockSkew, ChangesNothingForTheHolder) {
  const auto granted = acquire(careful_, key_);
  run_out(1s);
  EXPECT_EQ(renew(careful_, key_, *granted.version), change_answer::done);
  run_out(31s);
  EXPECT_EQ(renew(careful_, key_, *granted.version), change_answer::done);
  EXPECT_EQ(release(careful_, key_, *granted.version), change_answer::done);
}

TEST_F(PostgresClockSkew, GivesNoVersionOfALeaseThatMayStillBeValid) {
  acquire(careful_, key_);
  run_out(1s);
  EXPECT_TRUE(careful_.read(std::array{key_}, read_mode::ready_to_commit).front()->owned);
  open_work open;
  const auto refused = read_version(open.work, key_, on_many_clocks());
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_GT(refused.refusal().remaining, 10s);
  run_out(31s);
  EXPECT_TRUE(read_version(open.work, key_, on_many_clocks()).acquired());
  open.work.abort();
  EXPECT_FALSE(careful_.read(std::array{key_}, read_mode::ready_to_commit).front()->owned);
}

// As before `with_row_lock`, when a lease may have come and gone since the read.
TEST_F(PostgresClockSkew, UnsetsNoLeaseThatMayStillBeValid) {
  acquire(careful_, key_);
  const auto is_owned_afterwards = [&] {
    open_work open;
    detail::create_rows(open.work, key_, on_many_clocks());
    return rows_.read(std::array{key_}).front()->owned;
  };
  run_out(1s);
  EXPECT_TRUE(is_owned_afterwards());
  run_out(31s);
  EXPECT_FALSE(is_owned_afterwards());
}

TEST_F(PostgresClockSkew, LocksNoRowWhoseLeaseMayStillBeValid) {
  acquire(careful_, key_);
  run_out(1s);
  const auto lock_in = [&](const lock_keys& keys, const retry_policy& wait) {
    open_work open;
    return lock_rows(open.work, keys, wait, on_many_clocks());
  };
  for (const auto& keys : {lock_keys{key_}, lock_keys{key_, other_key_}}) {
    for (const auto& wait : {no_wait(), wait_for(20ms)}) {
      const auto refused = lock_in(keys, wait);
      ASSERT_FALSE(refused.acquired());
      EXPECT_EQ(refused.refusal().holder, "host:1");
      EXPECT_GT(refused.refusal().remaining, 10s);
    }
  }
  run_out(31s);
  EXPECT_TRUE(lock_in(key_, no_wait()).acquired());
  EXPECT_TRUE(lock_in({key_, other_key_}, no_wait()).acquired());
}

TEST_F(PostgresClockSkew, HoldsForSets) {
  acquire(careful_, key_);
  const std::array both{by_another(key_), by_another(other_key_)};
  run_out(1s);
  EXPECT_EQ(careful_.acquire(both, {acquire_mode::all_or_none})[0].status, acquire_status::held);
  EXPECT_EQ(careful_.acquire(std::span{both}.first(1), {acquire_mode::any, 1})[0].status,
            acquire_status::withheld);
  run_out(31s);
  for (const auto& answer : careful_.acquire(both, {acquire_mode::all_or_none})) {
    EXPECT_EQ(answer.status, acquire_status::granted);
  }
}

TEST_F(PostgresClockSkew, KeepsARowThatStaysClosedForAWhileLonger) {
  const auto granted = acquire(careful_, key_);
  const release_request closing{
      .key = key_, .owner = mine_, .version = *granted.version, .stay_closed = 1h};
  ASSERT_EQ(careful_.release(std::array{closing}).front(), change_answer::done);
  const auto version = careful_.read(std::array{key_}).front()->version;
  const auto open_since = [&](int seconds) {
    server_.query("update " + name() + " set expires_at = clock_timestamp() - interval '" +
                  std::to_string(seconds) + " seconds'");
  };
  open_since(1);
  open_work open;
  EXPECT_EQ(try_commit(open.work, key_, version, on_many_clocks()), commit_result::stale);
  EXPECT_FALSE(read_version(open.work, key_, on_many_clocks()).acquired());
  EXPECT_EQ(careful_.acquire(std::array{by_another(key_)}).front().status, acquire_status::held);
  open_since(31);
  EXPECT_EQ(try_commit(open.work, key_, version, on_many_clocks()), commit_result::committed);
}

TEST_F(PostgresClockSkew, ThatCannotBeIsMisuse) {
  for (const auto wrong : {std::chrono::milliseconds{-1}, std::chrono::milliseconds{60'001}}) {
    EXPECT_EQ(error_of([&] {
                postgres_store{postgres_url(), {.clock_skew = wrong}};
              }).kind,
              errc::misuse);
    open_work open;
    EXPECT_EQ(error_of([&] {
                (void)lock_rows(open.work, key_, no_wait(), {table(), wrong});
              }).kind,
              errc::misuse);
  }
}

}  // namespace
}  // namespace rowlock::tests
