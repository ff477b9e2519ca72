// Transactions of the application that see an older state: REPEATABLE READ and above.
#include <future>
#include <stop_token>

#include "postgres/postgres_transaction.hpp"

namespace rowlock::tests {
namespace {

using serializable = pqxx::transaction<pqxx::isolation_level::serializable>;

TEST_F(PostgresTransaction, WithRowLockTakesAnyIsolation) {
  pqxx::connection connection{postgres_url()};
  const lock_keys keys{key_, {"invoice", "44"}};
  EXPECT_TRUE(with_row_lock<repeatable_read>(
                  connection, keys, no_wait(), [](auto&) {}, table())
                  .acquired());
  EXPECT_TRUE(with_row_lock<serializable>(
                  connection, keys, no_wait(), [](auto&) {}, table())
                  .acquired());
}

TEST_F(PostgresTransaction, AtRepeatableReadARowThatChangedSinceTheSnapshotIsStale) {
  opened<repeatable_read> open;
  open.work.exec("select from " + name());
  const auto granted = acquire(rows_, key_);
  release(rows_, key_, *granted.version);
  for (const auto& wait : {no_wait(), wait_for(1s)}) {
    for (const auto& keys : {lock_keys{key_}, lock_keys{key_, other_key_}}) {
      const auto refused = lock(open.work, keys, wait);
      ASSERT_FALSE(refused.acquired());
      EXPECT_EQ(refused.refusal().reason, refusal_reason::stale);
    }
  }
  EXPECT_TRUE(is_unlocked(other_key_));
  open.work.exec("select 1");
}

TEST_F(PostgresTransaction, AtRepeatableReadARowThatAppearedSinceTheSnapshotIsStale) {
  const lock_key fresh{"invoice", "44"};
  opened<repeatable_read> open;
  open.work.exec("select from " + name());
  acquire(rows_, fresh);
  EXPECT_EQ(lock(open.work, fresh).refusal().reason, refusal_reason::stale);
  open.work.exec("select 1");
}

TEST_F(PostgresTransaction, AtRepeatableReadWaitingForARowThatChangesIsStale) {
  open_work rival;
  ASSERT_TRUE(lock(rival.work, key_).acquired());
  opened<repeatable_read> open;
  open.work.exec("select from " + name());
  auto waiting = std::async(std::launch::async,
                            [&] { return lock(open.work, key_, wait_for(60s)).refusal().reason; });
  server_.await(
      "select count(*) = 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = " +
      std::to_string(open.connection.backendpid()));
  rival.work.commit();
  EXPECT_EQ(waiting.get(), refusal_reason::stale);
}

TEST_F(PostgresTransaction, AtRepeatableReadWithRowLockTakesANewSnapshotAfterARivalsCommit) {
  pqxx::connection connection{postgres_url()};
  const auto await_waiting = [&] {
    server_.await(
        "select count(*) = 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = " +
        std::to_string(connection.backendpid()));
  };
  const auto run = [&](const retry_policy& wait) {
    return std::async(std::launch::async, [&connection, &wait, this] {
      return with_row_lock<repeatable_read>(
          connection, key_, wait, [](auto&) {}, table());
    });
  };
  {
    const auto wait = wait_for(60s);
    open_work rival;
    ASSERT_TRUE(lock(rival.work, key_).acquired());
    auto waiting = run(wait);
    await_waiting();
    rival.work.commit();
    EXPECT_TRUE(waiting.get().acquired());
  }
  // A caller that was stopped meanwhile does not try again.
  open_work rival;
  ASSERT_TRUE(lock(rival.work, key_).acquired());
  std::stop_source stop;
  const auto wait = wait_until_stopped(stop.get_token());
  auto waiting = run(wait);
  await_waiting();
  stop.request_stop();
  rival.work.commit();
  const auto refused = waiting.get();
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stopped);
}

TEST_F(PostgresTransaction, AtRepeatableReadTryCommitOfAVersionThatMovedIsStale) {
  opened<repeatable_read> open;
  const auto seen = read_version(open.work, key_, table());
  ASSERT_TRUE(seen.acquired());
  const auto granted = acquire(rows_, key_);
  release(rows_, key_, *granted.version);
  EXPECT_EQ(try_commit(open.work, key_, *seen, table()), commit_result::stale);
}

TEST_F(PostgresTransaction, AtRepeatableReadTryCommitOfAnApplicationsRowThatMovedIsStale) {
  server_.query("create table " + schema() + ".entity (id int primary key, version int not null)");
  server_.query("insert into " + schema() + ".entity values (1, 7)");
  const versioned_table entity{schema() + ".entity", "id", "version"};
  opened<repeatable_read> open;
  open.work.exec("select from " + entity.table);
  server_.query("update " + entity.table + " set version = 8");
  EXPECT_EQ(try_commit(open.work, entity, 1, 7), commit_result::stale);
}

}  // namespace
}  // namespace rowlock::tests
