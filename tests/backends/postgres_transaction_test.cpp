// Locks and versions in transactions of the application, where PostgreSQL has its own ways.
#include <functional>
#include <future>
#include <optional>
#include <stop_token>

#include "backends/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::tests {
namespace {

using repeatable_read = pqxx::transaction<pqxx::isolation_level::repeatable_read>;
using serializable = pqxx::transaction<pqxx::isolation_level::serializable>;

class PostgresTransaction : public postgres_table {
 protected:
  PostgresTransaction() { rows_.prepare(std::array{key_, other_key_}); }

  [[nodiscard]] outcome<row_lock> lock(pqxx::transaction_base& work, const lock_keys& keys,
                                       const retry_policy& wait = no_wait()) const {
    return lock_rows(work, keys, wait, table());
  }
  /// Whether nobody has the row locked, asked from outside.
  bool is_unlocked(const lock_key& key) {
    return server_.ask("select 1 from " + name() + row(key) + " for update skip locked").size() ==
           1;
  }

  postgres_store rows_{postgres_url(), {.table = table()}};
};

TEST_F(PostgresTransaction, RefusedGoesOnWithItsSettingsAndKeepsNoRow) {
  open_work rival;
  ASSERT_TRUE(lock(rival.work, other_key_).acquired());

  open_work open;
  open.work.exec("set local lock_timeout = '1234ms'");
  for (const auto& wait : {no_wait(), wait_for(120ms)}) {
    EXPECT_FALSE(lock(open.work, {key_, other_key_}, wait).acquired());
    EXPECT_TRUE(is_unlocked(key_));
    EXPECT_EQ(open.work.exec("show lock_timeout")[0][0].as<std::string>(), "1234ms");
  }
  rival.work.abort();
  EXPECT_TRUE(lock(open.work, {key_, other_key_}, wait_for(60s)).acquired());
  EXPECT_EQ(open.work.exec("show lock_timeout")[0][0].as<std::string>(), "1234ms");
  open.work.commit();
}

TEST_F(PostgresTransaction, RefusedByALeaseKeepsNoRowSoThatTheHolderCanRenewAndRelease) {
  const auto granted = acquire(rows_, key_);
  open_work open;
  const auto refused = lock(open.work, {key_, other_key_}).refusal();
  EXPECT_EQ(refused.reason, refusal_reason::held);
  EXPECT_EQ(refused.key, key_);
  EXPECT_EQ(refused.holder, "host:1");
  EXPECT_GT(refused.remaining, 30min);
  EXPECT_EQ(refused.current, granted.version);
  EXPECT_EQ(renew(rows_, key_, *granted.version), renew_answer::renewed);
  EXPECT_EQ(release(rows_, key_, *granted.version), release_answer::released);
  EXPECT_TRUE(is_unlocked(other_key_));
}

TEST_F(PostgresTransaction, ThatIsNotRefusedRestoresTheLockTimeoutOfTheSession) {
  open_work open;
  const auto before = open.work.exec("show lock_timeout")[0][0].as<std::string>();
  open_work rival;
  ASSERT_TRUE(lock(rival.work, key_).acquired());
  auto waiting = std::async(std::launch::async,
                            [&] { return lock(open.work, key_, wait_for(60s)).acquired(); });
  server_.await(
      "select count(*) = 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = " +
      std::to_string(open.connection.backendpid()));
  rival.work.commit();
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(open.work.exec("show lock_timeout")[0][0].as<std::string>(), before);
}

TEST_F(PostgresTransaction, WaitsForTheCreatorOfAMissingRowAndThenHasIt) {
  const lock_key fresh{"invoice", "44"};
  open_work creator;
  ASSERT_TRUE(lock(creator.work, fresh).acquired());
  open_work open;
  EXPECT_EQ(lock(open.work, fresh).refusal().reason, refusal_reason::busy);
  auto waiting = std::async(std::launch::async,
                            [&] { return lock(open.work, fresh, wait_for(60s)).acquired(); });
  server_.await(
      "select count(*) = 1 from pg_stat_activity where wait_event = 'advisory' and pid = " +
      std::to_string(open.connection.backendpid()));
  creator.work.abort();
  EXPECT_TRUE(waiting.get());
  open.work.commit();
  EXPECT_TRUE(rows_.read(std::array{fresh})[0]);
}

TEST_F(PostgresTransaction, LeaseStatementsAnswerAtOnceWhileARowIsLocked) {
  const auto granted = acquire(rows_, key_);
  open_work rival;
  rival.work.exec("select from " + name() + row(key_) + " for update");
  EXPECT_EQ(renew(rows_, key_, *granted.version), renew_answer::busy);
  EXPECT_EQ(release(rows_, key_, *granted.version), release_answer::busy);
  auto stranger = request(key_);
  stranger.owner = make_owner_id();
  EXPECT_EQ(rows_.acquire(std::array{stranger})[0].status, acquire_status::held);
  // Of several, the others are served.
  const auto other = acquire(rows_, other_key_);
  const auto renewed =
      rows_.renew(std::array{renew_request{key_, mine_, *granted.version, 1h},
                             renew_request{other_key_, mine_, *other.version, 1h}});
  EXPECT_EQ(renewed[0], renew_answer::busy);
  EXPECT_EQ(renewed[1], renew_answer::renewed);
  EXPECT_FALSE(is_unlocked(key_)) << "the rival had it all the time";
}

TEST_F(PostgresTransaction, LeaseStatementsAnswerAtOnceWhileARowIsBeingCreated) {
  const lock_key fresh{"invoice", "44"};
  open_work creator;
  ASSERT_TRUE(lock(creator.work, fresh).acquired());
  EXPECT_EQ(acquire(rows_, fresh).status, acquire_status::busy);
  EXPECT_FALSE(rows_.prepare(std::array{fresh})[0]);
  const auto answers = rows_.acquire(std::array{request(fresh), request(key_)});
  EXPECT_EQ(answers[0].status, acquire_status::busy);
  EXPECT_EQ(answers[1].status, acquire_status::granted);
  creator.work.commit();
  EXPECT_EQ(acquire(rows_, fresh).status, acquire_status::granted);
}

TEST_F(PostgresTransaction, AMissingRowDoesNotHoldUpThoseWhoCreateIt) {
  // with_row_lock creates it before its transaction begins, so a lease is refused, not kept
  // waiting.
  const lock_key fresh{"invoice", "44"};
  pqxx::connection connection{postgres_url()};
  const auto done = with_row_lock<pqxx::work>(
      connection, fresh, no_wait(),
      [&](pqxx::work&) {
        EXPECT_TRUE(rows_.read(std::array{fresh})[0]);
        EXPECT_EQ(acquire(rows_, fresh).status, acquire_status::busy);
        return 1;
      },
      table());
  EXPECT_TRUE(done.acquired());
}

TEST_F(PostgresTransaction, WithRowLockCommitsRollsBackAndCounts) {
  pqxx::connection connection{postgres_url()};
  server_.ask("create table " + schema() + ".note (text text)");
  const auto write = [&](pqxx::work& work) {
    work.exec("insert into " + schema() + ".note values ('x')");
  };
  EXPECT_TRUE(with_row_lock<pqxx::work>(connection, key_, no_wait(), write, table()).acquired());
  EXPECT_THROW((void)with_row_lock<pqxx::work>(
                   connection, key_, no_wait(),
                   [&](pqxx::work& work) {
                     write(work);
                     throw std::domain_error{"no"};
                   },
                   table()),
               std::domain_error);
  EXPECT_EQ(server_.value<int>("select count(*) from " + schema() + ".note"), 1);
  EXPECT_EQ(rows_.read(std::array{key_})[0]->failure_count, 1);
}

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

template <class Transaction>
struct opened {
  pqxx::connection connection{postgres_url()};
  Transaction work{connection};
};

TEST_F(PostgresTransaction, AtRepeatableReadARowThatChangedSinceTheSnapshotIsStale) {
  opened<repeatable_read> open;
  open.work.exec("select from " + name());
  const auto granted = acquire(rows_, key_);
  release(rows_, key_, *granted.version);
  for (const auto& wait : {no_wait(), wait_for(1s)}) {
    const auto refused = lock(open.work, {key_, other_key_}, wait);
    ASSERT_FALSE(refused.acquired());
    EXPECT_EQ(refused.refusal().reason, refusal_reason::stale);
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
  // Whoever was stopped meanwhile does not try again.
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
  server_.ask("create table " + schema() + ".entity (id int primary key, version int not null)");
  server_.ask("insert into " + schema() + ".entity values (1, 7)");
  const versioned_table entity{schema() + ".entity", "id", "version"};
  opened<repeatable_read> open;
  open.work.exec("select from " + entity.table);
  server_.ask("update " + entity.table + " set version = 8");
  EXPECT_EQ(try_commit(open.work, entity, 1, 7), commit_result::stale);
}

TEST_F(PostgresTransaction, ReadVersionUnsetsALeaseThatRanOut) {
  const auto granted = acquire(rows_, key_);
  server_.ask("update " + name() + " set expires_at = clock_timestamp() - interval '1 s'" +
              row(key_));
  open_work open;
  const auto seen = read_version(open.work, key_, table());
  ASSERT_TRUE(seen.acquired());
  EXPECT_GT(*seen, *granted.version);
  EXPECT_EQ(try_commit(open.work, key_, *seen, table()), commit_result::committed);
  open.work.commit();
  EXPECT_EQ(renew(rows_, key_, *granted.version), renew_answer::lost);
  EXPECT_EQ(rows_.read(std::array{key_})[0]->expiry_count, 1);
}

TEST_F(PostgresTransaction, TryCommitOfAnApplicationsRowTakesNumbersAndText) {
  server_.ask("create table " + schema() +
              ".entity (id text primary key, version bigint not null)");
  server_.ask("insert into " + schema() + ".entity values ('7', 1), ('o''n', 1)");
  const versioned_table entity{schema() + ".entity", "id", "version"};
  open_work open;
  EXPECT_EQ(try_commit(open.work, entity, 7, 1), commit_result::committed);
  EXPECT_EQ(try_commit(open.work, entity, "o'n", 1), commit_result::committed);
  EXPECT_EQ(try_commit(open.work, entity, "o'n", 1), commit_result::stale);
  EXPECT_EQ(try_commit(open.work, entity, "no such", 1), commit_result::stale);
  open.work.commit();
  EXPECT_EQ(server_.value<int>("select sum(version) from " + entity.table), 4);
}

TEST_F(PostgresTransaction, TryCommitOfAnApplicationsRowWaitsForARivalAndIsStaleIfThatCommits) {
  server_.ask("create table " + schema() + ".entity (id int primary key, version int not null)");
  server_.ask("insert into " + schema() + ".entity values (1, 1)");
  const versioned_table entity{schema() + ".entity", "id", "version"};
  open_work rival;
  ASSERT_EQ(try_commit(rival.work, entity, 1, 1), commit_result::committed);
  open_work open;
  auto waiting =
      std::async(std::launch::async, [&] { return try_commit(open.work, entity, 1, 1); });
  server_.await(
      "select count(*) = 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = " +
      std::to_string(open.connection.backendpid()));
  rival.work.commit();
  EXPECT_EQ(waiting.get(), commit_result::stale);
}

TEST_F(PostgresTransaction, IsRunAgainByRetryAfterAConflictOfItsOwnSql) {
  server_.ask("create table " + schema() + ".entity (id int primary key, version int not null)");
  server_.ask("insert into " + schema() + ".entity values (1, 1)");
  int runs = 0;
  const auto result = retry({.attempts = 3}, [&] {
    ++runs;
    opened<repeatable_read> open;
    auto locked = lock(open.work, key_);
    if (!locked.acquired()) return locked;
    if (runs == 1) server_.ask("update " + schema() + ".entity set version = version + 1");
    open.work.exec("update " + schema() + ".entity set version = version + 1");
    open.work.commit();
    return locked;
  });
  EXPECT_TRUE(result.acquired());
  EXPECT_EQ(runs, 2);
}

TEST_F(PostgresTransaction, OfALostConnectionCannotCommit) {
  open_work open;
  server_.ask("select pg_terminate_backend(" + std::to_string(open.connection.backendpid()) +
              ", 10000)");
  EXPECT_EQ(error_of([&] { (void)lock(open.work, key_); }).kind, errc::unavailable);
  EXPECT_ANY_THROW(open.work.exec("insert into " + name() +
                                  " (lock_type, source_id, version) values ('a', 'b', 1)"));
  EXPECT_ANY_THROW(open.work.commit());
  EXPECT_FALSE(rows_.read(std::array{lock_key{"a", "b"}})[0]);
}

TEST_F(PostgresTransaction, ThatCannotBeginOnALostConnectionIsUnavailable) {
  const std::vector<std::function<void(pqxx::connection&)>> calls{
      [&](pqxx::connection& connection) {
        (void)with_row_lock<pqxx::work>(
            connection, key_, no_wait(), [](pqxx::work&) {}, table());
      },
      [&](pqxx::connection& connection) {
        (void)with_optimistic_commit<pqxx::work>(
            connection, key_, [](pqxx::work&) {}, table());
      },
  };
  for (const auto& call : calls) {
    pqxx::connection connection{postgres_url()};
    server_.ask("select pg_terminate_backend(" + std::to_string(connection.backendpid()) +
                ", 10000)");
    EXPECT_EQ(error_of([&] { call(connection); }).kind, errc::unavailable);
  }
}

TEST_F(PostgresTransaction, ThatCannotBeginInsideAnotherIsMisuse) {
  open_work open;
  EXPECT_EQ(error_of([&] {
              (void)with_row_lock<pqxx::work>(
                  open.connection, key_, no_wait(), [](pqxx::work&) {}, table());
            }).kind,
            errc::misuse);
}

TEST_F(PostgresTransaction, WhichCreatesAMissingRowIsNeverInDoubtAndItsConflictIsBusy) {
  const auto at_the_commit_of_an_insert = [&](const std::string& action) {
    server_.ask("create or replace function " + schema() +
                ".act() returns trigger language plpgsql as $$ begin " + action +
                "; return null; end $$");
  };
  at_the_commit_of_an_insert("perform pg_terminate_backend(pg_backend_pid())");
  server_.ask("create constraint trigger act after insert on " + name() +
              " deferrable initially deferred for each row execute function " + schema() +
              ".act()");
  const auto lock_missing = [&] {
    pqxx::connection connection{postgres_url()};
    return with_row_lock<pqxx::work>(
        connection, lock_key{"invoice", "44"}, no_wait(), [](pqxx::work&) {}, table());
  };
  EXPECT_EQ(error_of([&] { (void)lock_missing(); }).kind, errc::unavailable);

  at_the_commit_of_an_insert("raise exception using errcode = 'serialization_failure'");
  const auto refused = lock_missing();
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::busy);
}

TEST_F(PostgresTransaction, WhoseConnectionIsLostAtTheCommitIsAnUnknownOutcome) {
  pqxx::connection connection{postgres_url()};
  const auto told = error_of([&] {
    (void)with_row_lock<pqxx::work>(
        connection, key_, no_wait(),
        [&](pqxx::work&) {
          server_.ask("select pg_terminate_backend(" + std::to_string(connection.backendpid()) +
                      ", 10000)");
        },
        table());
  });
  EXPECT_EQ(told.kind, errc::outcome_unknown);
}

TEST_F(PostgresTransaction, WhoseCommitTheServerRefusesThrowsTheDriversException) {
  server_.ask("create table " + schema() + ".entity (id int unique deferrable initially deferred)");
  pqxx::connection connection{postgres_url()};
  EXPECT_THROW((void)with_row_lock<pqxx::work>(
                   connection, key_, no_wait(),
                   [&](pqxx::work& work) {
                     work.exec("insert into " + schema() + ".entity values (1), (1)");
                   },
                   table()),
               pqxx::unique_violation);
}

TEST_F(PostgresTransaction, CrossingAnotherInOppositeOrderDoesNotDeadlock) {
  constexpr int rounds = 100;
  const auto take_both = [&](const lock_keys& keys) {
    pqxx::connection connection{postgres_url()};
    for (int i = 0; i < rounds; ++i) {
      const auto done = with_row_lock<pqxx::work>(
          connection, keys, wait_for(60s), [](pqxx::work&) {}, table());
      if (!done.acquired()) return false;
    }
    return true;
  };
  auto one = std::async(std::launch::async, [&] { return take_both({key_, other_key_}); });
  auto two = std::async(std::launch::async, [&] { return take_both({other_key_, key_}); });
  EXPECT_TRUE(one.get());
  EXPECT_TRUE(two.get());
}

}  // namespace
}  // namespace rowlock::tests
