// How transactions of the application begin and end, where PostgreSQL has its own ways.
#include <functional>
#include <future>

#include "postgres/postgres_transaction.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::tests {
namespace {

TEST_F(PostgresTransaction, WithRowLockCommitsRollsBackAndCounts) {
  pqxx::connection connection{postgres_url()};
  server_.query("create table " + schema() + ".note (text text)");
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

TEST_F(PostgresTransaction, ThatACallbackRollsBackIsNotCommittedAndOneThatItCommitsIsMisuse) {
  pqxx::connection connection{postgres_url()};
  const auto raise = [&](pqxx::work& work) {
    work.exec("update " + name() + " set fence_count = fence_count + 1" + row(key_));
  };
  const auto fences = [&] {
    return server_.value<int>("select fence_count from " + name() + row(key_));
  };
  const auto done = with_row_lock<pqxx::work>(
      connection, key_, no_wait(),
      [&](pqxx::work& work) {
        raise(work);
        work.abort();
        return 7;
      },
      table());
  ASSERT_TRUE(done.acquired());
  EXPECT_EQ(*done, 7);
  EXPECT_EQ(fences(), 0);

  const auto caught = error_of([&] {
    (void)with_row_lock<pqxx::work>(
        connection, key_, no_wait(),
        [&](pqxx::work& work) {
          raise(work);
          work.commit();
        },
        table());
  });
  EXPECT_EQ(caught.kind, errc::misuse);
  EXPECT_EQ(fences(), 1) << "which libpqxx lets it do";
}

// The server answers such a COMMIT with ROLLBACK, and libpqxx reports nothing.
TEST_F(PostgresTransaction, ThatAnErrorAbortedIsMisuseThoughTheCallbackSwallowedIt) {
  pqxx::connection connection{postgres_url()};
  server_.query("create table " + schema() + ".note (text text)");
  lock_table locks{rows_, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(other_key_);
  const auto with_text = [](pqxx::work& work) { work.exec("select 1 / 0"); };
  const auto with_values = [](pqxx::work& work) {
    (void)try_commit(work, versioned_table{"no_such_table", "id", "version"}, 7, 1);
  };
  for (const std::function<void(pqxx::work&)>& failing :
       {std::function<void(pqxx::work&)>{with_text}, {with_values}}) {
    const auto swallow = [&](pqxx::work& work) {
      work.exec("insert into " + schema() + ".note values ('x')");
      EXPECT_THROW(failing(work), std::exception);
    };
    const std::vector<std::function<void()>> calls{
        [&] { (void)with_row_lock<pqxx::work>(connection, key_, no_wait(), swallow, table()); },
        [&] { (void)with_optimistic_commit<pqxx::work>(connection, key_, swallow, table()); },
        [&] { run_fenced<pqxx::work>(connection, held, swallow, {}, table()); },
        [&] { run_fenced<pqxx::work>(connection, held, swallow, {.fence_first = true}, table()); },
        [&] { run_fenced<pqxx::work>(connection, held, swallow, {.release = true}, table()); }};
    for (const auto& call : calls) {
      const auto caught = error_of(call);
      EXPECT_EQ(caught.kind, errc::misuse);
      EXPECT_NE(caught.message().find("aborted by an earlier error"), std::string::npos)
          << caught.message();
    }
  }
  EXPECT_EQ(server_.value<int>("select count(*) from " + schema() + ".note"), 0);
  EXPECT_TRUE(held.is_valid());
  EXPECT_EQ(server_.value<int>("select count(owner) from " + name()), 1);
}

TEST_F(PostgresTransaction, CommitsAfterAnErrorInASavepoint) {
  pqxx::connection connection{postgres_url()};
  const auto done = with_row_lock<pqxx::work>(
      connection, key_, no_wait(),
      [&](pqxx::work& work) {
        try {
          pqxx::subtransaction inner{work};
          inner.exec("select 1 / 0");
        } catch (const pqxx::sql_error&) {
        }
        work.exec("update " + name() + " set fence_count = 7" + row(key_));
      },
      table());
  EXPECT_TRUE(done.acquired());
  EXPECT_EQ(server_.value<int>("select fence_count from " + name() + row(key_)), 7);
}

TEST_F(PostgresTransaction, ThatAStatementOfTheCallbackEndsIsMisuse) {
  pqxx::connection connection{postgres_url()};
  for (const auto* end : {"COMMIT", "ROLLBACK"}) {
    const auto caught = error_of([&] {
      (void)with_row_lock<pqxx::work>(
          connection, key_, no_wait(), [&](pqxx::work& work) { work.exec(end); }, table());
    });
    EXPECT_EQ(caught.kind, errc::misuse) << end;
  }
}

// What a callback throws away, a lost connection is not.
TEST_F(PostgresTransaction, ThatLosesItsConnectionInACallbackIsNotTakenForRolledBack) {
  pqxx::connection connection{postgres_url()};
  EXPECT_THROW((void)with_row_lock<pqxx::work>(
                   connection, key_, no_wait(),
                   [&](pqxx::work& work) {
                     server_.query("select pg_terminate_backend(" +
                                   std::to_string(connection.backendpid()) + ")");
                     try {
                       (void)lock(work, other_key_);
                     } catch (const std::exception&) {  // unavailable
                     }
                   },
                   table()),
               std::exception);
}

TEST_F(PostgresTransaction, ReadVersionUnsetsALeaseThatRanOut) {
  const auto granted = acquire(rows_, key_);
  server_.query("update " + name() + " set expires_at = clock_timestamp() - interval '1 s'" +
                row(key_));
  open_work open;
  const auto seen = read_version(open.work, key_, table());
  ASSERT_TRUE(seen.acquired());
  EXPECT_GT(*seen, *granted.version);
  EXPECT_EQ(try_commit(open.work, key_, *seen, table()), commit_result::committed);
  open.work.commit();
  EXPECT_EQ(renew(rows_, key_, *granted.version), change_answer::lost);
  EXPECT_EQ(rows_.read(std::array{key_})[0]->expiry_count, 1);
}

TEST_F(PostgresTransaction, TryCommitOfAnApplicationsRowTakesNumbersAndText) {
  server_.query("create table " + schema() +
                ".entity (id text primary key, version bigint not null)");
  server_.query("insert into " + schema() + ".entity values ('7', 1), ('o''n', 1)");
  const versioned_table entity{schema() + ".entity", "id", "version"};
  open_work open;
  EXPECT_EQ(try_commit(open.work, entity, 7, 1), commit_result::committed);
  EXPECT_EQ(try_commit(open.work, entity, "o'n", 1), commit_result::committed);
  EXPECT_EQ(try_commit(open.work, entity, "o'n", 1), commit_result::stale);
  EXPECT_EQ(try_commit(open.work, entity, "no such", 1), commit_result::stale);
  open.work.commit();
  EXPECT_EQ(server_.value<int>("select sum(version) from " + entity.table), 4);
}

TEST_F(PostgresTransaction, TryCommitOfAnApplicationsTableThatIsMissingNamesIt) {
  open_work open;
  const auto caught = error_of([&] {
    (void)try_commit(open.work, versioned_table{schema() + ".entity", "id", "version"}, 7, 1);
  });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("there is no table " + schema() + ".entity"), std::string::npos)
      << caught.message();
}

TEST_F(PostgresTransaction, TryCommitOfAnApplicationsRowWaitsForARivalAndIsStaleIfThatCommits) {
  server_.query("create table " + schema() + ".entity (id int primary key, version int not null)");
  server_.query("insert into " + schema() + ".entity values (1, 1)");
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
  server_.query("create table " + schema() + ".entity (id int primary key, version int not null)");
  server_.query("insert into " + schema() + ".entity values (1, 1)");
  int runs = 0;
  const auto result = retry({.attempts = 3}, [&] {
    ++runs;
    opened<repeatable_read> open;
    auto locked = lock(open.work, key_);
    if (!locked.acquired()) return locked;
    if (runs == 1) server_.query("update " + schema() + ".entity set version = version + 1");
    open.work.exec("update " + schema() + ".entity set version = version + 1");
    open.work.commit();
    return locked;
  });
  EXPECT_TRUE(result.acquired());
  EXPECT_EQ(runs, 2);
}

TEST_F(PostgresTransaction, OfALostConnectionCannotCommit) {
  open_work open;
  server_.query("select pg_terminate_backend(" + std::to_string(open.connection.backendpid()) +
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
    server_.query("select pg_terminate_backend(" + std::to_string(connection.backendpid()) +
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
    server_.query("create or replace function " + schema() +
                  ".act() returns trigger language plpgsql as $$ begin " + action +
                  "; return null; end $$");
  };
  at_the_commit_of_an_insert("perform pg_terminate_backend(pg_backend_pid())");
  server_.query("create constraint trigger act after insert on " + name() +
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
  const auto caught = error_of([&] {
    (void)with_row_lock<pqxx::work>(
        connection, key_, no_wait(),
        [&](pqxx::work&) {
          server_.query("select pg_terminate_backend(" + std::to_string(connection.backendpid()) +
                        ", 10000)");
        },
        table());
  });
  EXPECT_EQ(caught.kind, errc::outcome_unknown);
}

TEST_F(PostgresTransaction, WhoseCommitTheServerRefusesThrowsTheDriversException) {
  server_.query("create table " + schema() +
                ".entity (id int unique deferrable initially deferred)");
  pqxx::connection connection{postgres_url()};
  EXPECT_THROW((void)with_row_lock<pqxx::work>(
                   connection, key_, no_wait(),
                   [&](pqxx::work& work) {
                     work.exec("insert into " + schema() + ".entity values (1), (1)");
                   },
                   table()),
               pqxx::unique_violation);
}

}  // namespace
}  // namespace rowlock::tests
