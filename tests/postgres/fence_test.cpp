// Fences in transactions of the application, where PostgreSQL has its own ways.
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

using repeatable_read = pqxx::transaction<pqxx::isolation_level::repeatable_read>;

class PostgresFence : public postgres_table {
 protected:
  lease acquire_lease(const lock_key& key) { return *locks_.try_acquire(key); }

  void fence(pqxx::transaction_base& work, const lease& held, const fence_options& options = {}) {
    rowlock::fence(work, held, options, table());
  }

  static std::string idle_limit(pqxx::transaction_base& work) {
    return work.exec("show idle_in_transaction_session_timeout")[0][0].as<std::string>();
  }

  void end_lease(const lock_key& key) {
    server_.query("update " + name() + " set expires_at = 'epoch'" + row(key));
  }

  postgres_store rows_{postgres_url(), {.table = table()}};
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
};

TEST_F(PostgresFence, IsMisuseOutsideATransactionOfTheDatabase) {
  const lease held = acquire_lease(key_);
  pqxx::connection connection{postgres_url()};
  {
    pqxx::nontransaction autocommit{connection};
    EXPECT_EQ(error_of([&] { fence(autocommit, held); }).kind, errc::misuse);
  }
  pqxx::work work{connection};
  pqxx::subtransaction inner{work};
  EXPECT_EQ(error_of([&] { fence(inner, held); }).kind, errc::misuse);
}

TEST_F(PostgresFence, InATransactionThatBeganBeforeTheGrantBlamesNobodyElse) {
  rows_.read(std::array{key_}, read_mode::ready_to_commit);
  for (const auto& key : {key_, other_key_}) {  // a row that was there before the grant, and not
    pqxx::connection connection{postgres_url()};
    {
      repeatable_read work{connection};
      work.exec("select from " + name());
      const lease held = acquire_lease(key);
      const auto caught = error_of([&] { fence(work, held); });
      EXPECT_EQ(caught.kind, errc::lease_lost);
      EXPECT_NE(caught.message().find("began before the grant"), std::string::npos)
          << caught.message();
    }
    server_.query("update " + name() + " set owner = null, version = version + 1" + row(key));
  }
}

TEST_F(PostgresFence, OfAnAbortedTransactionIsMisuseThatSaysToBeginAnother) {
  const lease held = acquire_lease(key_);
  open_work open;
  EXPECT_ANY_THROW(open.work.exec("select 1/0"));
  const auto caught = error_of([&] { fence(open.work, held); });
  EXPECT_EQ(caught.kind, errc::misuse);
  EXPECT_NE(caught.message().find("begin another one"), std::string::npos) << caught.message();
}

TEST_F(PostgresFence, LimitsHowLongTheTransactionMayBeIdleAndOnlyThis) {
  const lease held = acquire_lease(key_);
  pqxx::connection connection{postgres_url()};
  {
    pqxx::work work{connection};
    fence(work, held, {.idle_limit = 7s});
    EXPECT_EQ(idle_limit(work), "7s");
    work.commit();
  }
  pqxx::work next{connection};
  EXPECT_EQ(idle_limit(next), "0");
}

TEST_F(PostgresFence, LeavesASmallerIdleLimitAsItIs) {
  const lease held = acquire_lease(key_);
  open_work open;
  open.work.exec("set local idle_in_transaction_session_timeout = '1500ms'");
  fence(open.work, held, {.idle_limit = 7s});
  EXPECT_EQ(idle_limit(open.work), "1500ms");
}

TEST_F(PostgresFence, TakesALimitThatIsLongerThanAnyOfTheServer) {
  const lease held = acquire_lease(key_);
  open_work open;
  fence(open.work, held, {.idle_limit = 24h * 365});
  EXPECT_EQ(idle_limit(open.work), "2147483647ms");
}

TEST_F(PostgresFence, OfAStoppedApplicationIsEndedByTheServer) {
  const lease held = acquire_lease(key_);
  end_lease(key_);
  open_work open;
  fence(open.work, held, {.idle_limit = 50ms});
  const auto of_the_application = "pid = " + std::to_string(open.connection.backendpid());
  server_.await("select not exists (select from pg_stat_activity where " + of_the_application +
                ")");
  EXPECT_EQ(acquire(rows_, key_).status, acquire_status::granted);
  EXPECT_ANY_THROW(open.work.commit());
}

TEST_F(PostgresFence, ByWritingIsOneAtATimeAndBySharingSeveral) {
  const lease held = acquire_lease(key_);
  open_work one;
  open_work other;
  fence(one.work, held, {.kind = fence_kind::share});
  fence(other.work, held, {.kind = fence_kind::share});
  one.work.commit();
  other.work.commit();

  open_work writer;
  fence(writer.work, held);
  open_work late;
  const auto caught = error_of([&] { fence(late.work, held); });
  EXPECT_EQ(caught.kind, errc::lease_lost);
  EXPECT_NE(caught.message().find("may still be held"), std::string::npos);
  writer.work.commit();
}

TEST_F(PostgresFence, OfSeveralLeasesTakesAllOrNoneWhileOneIsInUse) {
  std::vector<lease> held;
  held.push_back(acquire_lease(key_));
  held.push_back(acquire_lease(other_key_));
  open_work user;
  user.work.exec("select 1 from " + name() + row(other_key_) + " for no key update");
  open_work work;
  auto waiting = std::async(std::launch::async, [&] {
    // It has tried, and reads why not all are fenced.
    server_.await("select query like '%l.ttl_us%' from pg_stat_activity where pid = " +
                  std::to_string(work.connection.backendpid()));
    user.work.commit();
  });
  release_with(work.work, held, {}, table());
  work.work.commit();
  waiting.get();
  EXPECT_FALSE(rows_.read(std::array{key_}).at(0)->owned);
  EXPECT_FALSE(rows_.read(std::array{other_key_}).at(0)->owned);
}

TEST_F(PostgresFence, OfSeveralLeasesOfWhichOneIsInUseChangesNoRow) {
  std::vector<lease> held;
  held.push_back(acquire_lease(key_));
  held.push_back(acquire_lease(other_key_));
  // A rollback takes no number back.
  server_.query("create sequence " + schema() + ".changes");
  server_.query("create function " + schema() +
                ".count() returns trigger language plpgsql as $$ begin perform nextval('" +
                schema() + ".changes'); return new; end $$");
  server_.query("create trigger counting before update on " + name() +
                " for each row execute function " + schema() + ".count()");
  open_work user;
  user.work.exec("select 1 from " + name() + row(other_key_) + " for no key update");
  for (const auto& prove : std::vector<std::function<void(pqxx::work&)>>{
           [&](pqxx::work& work) { rowlock::fence(work, held, {}, table()); },
           [&](pqxx::work& work) { release_with(work, held, {}, table()); }}) {
    open_work open;
    EXPECT_EQ(error_of([&] { prove(open.work); }).kind, errc::lease_lost);
  }
  EXPECT_FALSE(server_.value<bool>("select is_called from " + schema() + ".changes"));
}

TEST_F(PostgresFence, BySharingKeepsRivalsOut) {
  const lease held = acquire_lease(key_);
  end_lease(key_);
  open_work open;
  fence(open.work, held, {.kind = fence_kind::share});
  EXPECT_EQ(acquire(rows_, key_).status, acquire_status::busy);
  open.work.commit();
  EXPECT_EQ(acquire(rows_, key_).status, acquire_status::granted);
  open_work late;
  EXPECT_EQ(error_of([&] { fence(late.work, held, {.kind = fence_kind::share}); }).kind,
            errc::lease_lost);
}

TEST_F(PostgresFence, ByWritingIsSeenByARowLockWhoseSnapshotIsOlder) {
  const lease held = acquire_lease(key_);
  pqxx::connection connection{postgres_url()};
  end_lease(key_);
  repeatable_read rival{connection};
  rival.exec("select count(*) from " + name());  // its snapshot
  {
    open_work open;
    fence(open.work, held);
    open.work.commit();
  }
  // It could lock the row, but would not see what the fenced transaction wrote.
  EXPECT_EQ(lock_rows(rival, key_, no_wait(), table()).refusal().reason, refusal_reason::stale);
}

TEST_F(PostgresFence, RunsTheWholeTransactionAgainAfterAConflict) {
  const lease held = acquire_lease(key_);
  pqxx::connection connection{postgres_url()};
  server_.query("create table " + schema() + ".counter (n integer)");
  server_.query("insert into " + schema() + ".counter values (0)");
  int runs = 0;
  run_fenced<repeatable_read>(
      connection, held,
      [&](repeatable_read& work) {
        work.exec("select n from " + schema() + ".counter");
        if (++runs == 1) server_.query("update " + schema() + ".counter set n = n + 10");
        work.exec("update " + schema() + ".counter set n = n + 1");
      },
      {.fence_first = true}, table());
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(server_.value<int>("select n from " + schema() + ".counter"), 11);
}

TEST_F(PostgresFence, GivesUpConflictsOnceTheLeaseIsOver) {
  lease held = acquire_lease(key_);
  pqxx::connection connection{postgres_url()};
  int runs = 0;
  const auto caught = error_of([&] {
    run_fenced<pqxx::work>(
        connection, held,
        [&](pqxx::work& work) {
          ++runs;
          held.release();
          work.exec("do $$ begin raise serialization_failure; end $$");
        },
        {}, table());
  });
  EXPECT_EQ(caught.kind, errc::lease_lost);
  EXPECT_EQ(runs, 1);
}

/// A commit that was to unset the row, and whose answer got lost.
class PostgresFenceInDoubt : public PostgresFence {
 protected:
  void run_into_doubt(pqxx::connection& connection, const lease& held,
                      const std::function<void(pqxx::work&)>& work) {
    const auto caught = error_of(
        [&] { run_fenced<pqxx::work>(connection, held, work, {.release = true}, table()); });
    EXPECT_EQ(caught.kind, errc::outcome_unknown);
  }

  void await_unset_row() { server_.await("select owner is null from " + name() + row(key_)); }
};

TEST_F(PostgresFenceInDoubt, AboutTheReleaseEndsTheLease) {
  const lease held = acquire_lease(key_);
  tcp_proxy network{server_.host(), server_.port()};
  pqxx::connection connection{url_through(network)};
  run_into_doubt(connection, held, [&](pqxx::work&) { network.swallow_reply("COMMIT"); });
  EXPECT_FALSE(held.is_valid()) << "another process may have the key by now";
  await_unset_row();
}

TEST_F(PostgresFenceInDoubt, AboutTheReleaseUnsetsTheRowIfTheCommitDidNot) {
  const lease held = acquire_lease(key_);
  server_.query("create table " + schema() + ".fatal ()");
  server_.query("create function " + schema() +
                ".die() returns trigger language plpgsql as "
                "$$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$");
  server_.query("create constraint trigger die after insert on " + schema() +
                ".fatal initially deferred for each row execute function " + schema() + ".die()");
  pqxx::connection connection{postgres_url()};
  run_into_doubt(connection, held, [&](pqxx::work& work) {
    work.exec("insert into " + schema() + ".fatal default values");
  });
  EXPECT_FALSE(held.is_valid());
  await_unset_row();
}

// The functions' parameters are called so.
TEST_F(PostgresFence, AndRowLocksStandAnyColumnThatIsAdded) {
  server_.query("alter table " + name() +
                " add p_type text, add p_id text, add p_version bigint, add p_skew_ms integer,"
                " add p_action text, add fenced bigint, add moved bigint");
  lease held = acquire_lease(key_);
  open_work ours;
  fence(ours.work, held);
  fence(ours.work, held, {.kind = fence_kind::share});
  EXPECT_TRUE(rowlock::lock_rows(ours.work, other_key_, no_wait(), table()).acquired());
  release_with(ours.work, held, {}, table());
  ours.work.commit();
  EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(PostgresFence, OfAnUnknownActionIsAnErrorAndReleasesNothing) {
  auto rows = open_store();
  const auto granted = *acquire(rows, key_).version;
  for (const std::string action : {"'share '", "null"}) {
    EXPECT_THROW(server_.query("select " + table().in("shared_lock_fence") + "('" + key_.type +
                               "', '" + key_.source_id + "', " + std::to_string(granted.number) +
                               ", '1s', " + action + ")"),
                 pqxx::sql_error);
  }
  EXPECT_EQ(renew(rows, key_, granted), change_answer::done);
}

}  // namespace
}  // namespace rowlock::tests
