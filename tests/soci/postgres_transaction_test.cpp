// The application's own transaction on a soci::session to PostgreSQL.
#include <libpq-fe.h>
#include <soci/postgresql/soci-postgresql.h>

#include "rowlock/lock_table.hpp"
#include "soci/soci_postgres_table.hpp"
#include "support/forked_child.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class SociPostgresTransaction : public soci_postgres_table {
 protected:
  /// Each call of a transaction, on `session_`.
  std::vector<std::function<void()>> calls() {
    return {[&] { (void)lock_rows(session_, key_, no_wait(), table()); },
            [&] { (void)read_version(session_, key_, table()); },
            [&] { (void)try_commit(session_, key_, {1}, table()); },
            [&] {
              (void)try_commit(session_, versioned_table{"orders", "id", "version"}, 42, 1);
            },
            [&] { fence(session_, held_, {}, table()); },
            [&] { release_with(session_, held_, {}, table()); }};
  }

  void begin_serializable() { session_ << "begin isolation level repeatable read"; }

  soci_store rows_ = open_store();
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
  lease held_ = *locks_.try_acquire(other_key_);
  soci::session session_{soci_url()};
};

TEST_F(SociPostgresTransaction, NoneAtAllIsMisuse) {
  for (const auto& call : calls()) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::misuse);
    EXPECT_NE(caught.message().find("no transaction is open"), std::string::npos)
        << caught.message();
  }
}

TEST_F(SociPostgresTransaction, WhoseEncodingWouldMakeAKeyAnotherOneIsMisuse) {
  const lock_key umlaut{"invoice", "M\u00fcller"};
  const lease held = *locks_.try_acquire(umlaut);
  session_ << "set client_encoding to 'LATIN1'";
  soci_transaction work{session_};
  const std::vector<std::function<void()>> on_umlaut{
      [&] { (void)lock_rows(session_, umlaut, no_wait(), table()); },
      [&] { (void)read_version(session_, umlaut, table()); },
      [&] { (void)try_commit(session_, umlaut, {1}, table()); },
      [&] { fence(session_, held, {}, table()); },
      [&] { release_with(session_, held, {}, table()); }};
  for (const auto& call : on_umlaut) EXPECT_EQ(error_of(call).kind, errc::misuse);
  session_ << "set client_encoding to 'UTF8'";
  EXPECT_EQ(lock_rows(work, umlaut, no_wait(), table()).refusal().reason, refusal_reason::held);
}

TEST_F(SociPostgresTransaction, ThatAStatementOfTheCallbackCommitsIsMisuse) {
  rows_.read(std::array{key_}, read_mode::ready_to_commit);
  const auto caught = error_of([&] {
    (void)with_row_lock<soci_transaction>(
        session_, key_, no_wait(), [&](soci_transaction& work) { work.session() << "COMMIT"; },
        table());
  });
  EXPECT_EQ(caught.kind, errc::misuse);
}

TEST_F(SociPostgresTransaction, ThatACallbackHasIsNotCommittedByIt) {
  rows_.read(std::array{key_}, read_mode::ready_to_commit);
  const auto caught = error_of([&] {
    (void)with_row_lock<soci_transaction>(
        session_, key_, no_wait(),
        [&](soci_transaction& work) {
          work.session() << "update " + name() + " set fence_count = 7";
          work.commit();
        },
        table());
  });
  EXPECT_EQ(caught.kind, errc::misuse);
  const auto done = with_row_lock<soci_transaction>(
      session_, key_, no_wait(),
      [&](soci_transaction& work) {
        work.session() << "update " + name() + " set fence_count = 7";
        work.abort();
        return 7;
      },
      table());
  ASSERT_TRUE(done.acquired());
  EXPECT_EQ(*done, 7);
  EXPECT_EQ(server_.value<int>("select max(fence_count) from " + name()), 0);
}

TEST_F(SociPostgresTransaction, OfAClosedSessionIsMisuse) {
  session_.close();
  for (const auto& call : calls()) EXPECT_EQ(error_of(call).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { const soci_transaction begun{session_}; }).kind, errc::misuse);
}

TEST_F(SociPostgresTransaction, LeavesALeaseThatRanOutToItsHolderAsLongAsClocksMayDiffer) {
  soci_store careful{soci_url(), {.table = table(), .clock_skew = 30s}};
  const soci_table careful_table{table(), false, 30s};
  const auto run_out = [&](const std::string& ago) {
    server_.query("update " + name() + " set expires_at = clock_timestamp() - interval '" + ago +
                  "' where owner is not null");
  };
  run_out("1 second");
  EXPECT_EQ(acquire(careful, other_key_).status, acquire_status::held);
  soci_transaction work{session_};
  EXPECT_FALSE(lock_rows(work, other_key_, no_wait(), careful_table).acquired());
  EXPECT_FALSE(read_version(session_, other_key_, careful_table).acquired());
  run_out("31 seconds");
  EXPECT_TRUE(lock_rows(work, other_key_, no_wait(), careful_table).acquired());
  EXPECT_TRUE(read_version(session_, other_key_, careful_table).acquired());
}

TEST_F(SociPostgresTransaction, ThatIsAbortedIsMisuseAndSaysWhatToDo) {
  soci_transaction work{session_};
  EXPECT_THROW(session_ << "select 1 / 0", soci::soci_error);
  for (const auto& call : calls()) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::misuse);
    EXPECT_NE(caught.message().find("roll it back"), std::string::npos) << caught.message();
  }
}

TEST_F(SociPostgresTransaction, ThatIsAbortedDoesNotSeemToCommit) {
  soci_transaction work{session_};
  EXPECT_THROW(session_ << "select 1 / 0", soci::soci_error);
  EXPECT_EQ(error_of([&] { work.commit(); }).kind, errc::misuse);
}

TEST_F(SociPostgresTransaction, ThatAnErrorAbortedIsMisuseThoughTheCallbackSwallowedIt) {
  const auto swallow = [&](soci_transaction& work) {
    work.session() << "update " + name() + " set fence_count = 7";
    EXPECT_THROW(work.session() << "select 1 / 0", soci::soci_error);
  };
  for (const auto& call : std::vector<std::function<void()>>{
           [&] {
             (void)with_row_lock<soci_transaction>(session_, key_, no_wait(), swallow, table());
           },
           [&] {
             (void)with_optimistic_commit<soci_transaction>(session_, key_, swallow, table());
           },
           [&] { run_fenced<soci_transaction>(session_, held_, swallow, {}, table()); },
           [&] {
             run_fenced<soci_transaction>(session_, held_, swallow, {.fence_first = true}, table());
           }}) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::misuse);
    EXPECT_NE(caught.message().find("aborted by an earlier error"), std::string::npos)
        << caught.message();
  }
  EXPECT_EQ(server_.value<int>("select max(fence_count) from " + name()), 0);
  EXPECT_TRUE(held_.is_valid());
}

TEST_F(SociPostgresTransaction, WhoseRowsAreNotReadToTheEndIsMisuse) {
  const soci_transaction work{session_};
  auto* const connection =
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): its type is not exported
      static_cast<soci::postgresql_session_backend*>(session_.get_backend())->conn_;
  ASSERT_EQ(PQsendQuery(connection, "select 1"), 1);
  const auto caught = error_of([&] { (void)lock_rows(session_, key_, no_wait(), table()); });
  EXPECT_EQ(caught.kind, errc::misuse);
  EXPECT_NE(caught.message().find("read its rows"), std::string::npos) << caught.message();
}

TEST_F(SociPostgresTransaction, IsNotBegunInsideAnother) {
  const soci::transaction open{session_};
  EXPECT_EQ(error_of([&] { const soci_transaction second{session_}; }).kind, errc::misuse);
}

TEST_F(SociPostgresTransaction, ThatLostItsConnectionIsUnavailableAndCommitsNothing) {
  soci_transaction work{session_};
  ASSERT_TRUE(lock_rows(session_, key_, no_wait(), table()).acquired());
  terminate(session_);
  EXPECT_EQ(error_of([&] { (void)lock_rows(session_, key_, no_wait(), table()); }).kind,
            errc::unavailable);
  EXPECT_EQ(error_of([&] { fence(session_, held_, {}, table()); }).kind, errc::unavailable);
  EXPECT_EQ(error_of([&] { work.commit(); }).kind, errc::misuse);
  EXPECT_EQ(error_of([&] { const soci_transaction next{session_}; }).kind, errc::unavailable);
  EXPECT_EQ(rows_.read(std::array{key_}).front(), std::nullopt);
}

TEST_F(SociPostgresTransaction, WhoseCommitGetsNoAnswerIsInDoubt) {
  tcp_proxy proxy{server_.host(), server_.port()};
  soci::session session{soci_url(url_through(proxy))};
  soci_transaction work{session};
  ASSERT_TRUE(lock_rows(session, key_, no_wait(), table()).acquired());
  proxy.swallow_reply("COMMIT");
  EXPECT_EQ(error_of([&] { work.commit(); }).kind, errc::outcome_unknown);
  EXPECT_TRUE(rows_.read(std::array{key_}).front());
}

TEST_F(SociPostgresTransaction, ShowsNoOwnerAndNoStatementWhenItFails) {
  soci_transaction work{session_};
  postgres_schema::execute("drop table " + name() + " cascade");
  const auto caught = error_of([&] { fence(session_, held_, {}, table()); });
  EXPECT_EQ(caught.kind, errc::rejected);
  expect_unsaid(caught, "fence_count");
  EXPECT_EQ(session_.get_last_query(), "") << "SOCI knows nothing of our statements";
}

TEST_F(SociPostgresTransaction, WithALostLeaseHasEnded) {
  soci_transaction work{session_};
  server_.query("update " + name() + " set version = version + 1");
  EXPECT_EQ(error_of([&] { fence(session_, held_, {}, table()); }).kind, errc::lease_lost);
  EXPECT_EQ(error_of([&] { work.commit(); }).kind, errc::misuse);
}

TEST_F(SociPostgresTransaction, WithAnOldSnapshotIsStale) {
  begin_serializable();
  session_ << "select 1";
  const auto granted = acquire(rows_, key_);
  release(rows_, key_, *granted.version);
  const auto refused = lock_rows(session_, key_, no_wait(), table());
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stale);
}

TEST_F(SociPostgresTransaction, OfAFenceWithAnOldSnapshotMeetsAConflictThatIsRecognised) {
  begin_serializable();
  session_ << "select 1";
  server_.query("update " + name() + " set expires_at = expires_at + interval '1 second'");
  try {
    fence(session_, held_, {}, table());
    ADD_FAILURE() << "no conflict";
  } catch (const soci::postgresql_soci_error& thrown) {
    EXPECT_TRUE(detail::is_conflict(thrown));
    EXPECT_EQ(thrown.sqlstate(), "40001");
    EXPECT_EQ(std::string{thrown.what()}.find("fence_count"), std::string::npos) << thrown.what();
  }
}

TEST_F(SociPostgresTransaction, IsRunAgainWhenAStatementOfTheApplicationMeetsAConflict) {
  server_.query("create table " + schema() + ".counter as select 0 as n");
  int runs = 0;
  run_fenced<soci_transaction>(
      session_, held_,
      [&](soci_transaction& work) {
        if (++runs == 1) {
          work.session() << "set transaction isolation level repeatable read";
          work.session() << "select n from " << schema() << ".counter";
          server_.query("update " + schema() + ".counter set n = n + 1");
        }
        work.session() << "update " << schema() << ".counter set n = n + 1";
      },
      {}, table());
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(server_.value<int>("select n from " + schema() + ".counter"), 2);
}

TEST_F(SociPostgresTransaction, IsLeftAloneByAChildOfFork) {
  std::optional<soci_transaction> work{std::in_place, session_};
  ASSERT_TRUE(lock_rows(session_, key_, no_wait(), table()).acquired());
  const auto wrong = complaints_of_child([&](std::vector<std::string>& said) {
    try {
      work->commit();
      said.emplace_back("the child could commit");
    } catch (const error& thrown) {
      if (thrown.kind() != errc::misuse) said.emplace_back(thrown.what());
    }
    work.reset();
  });
  EXPECT_EQ(wrong, std::vector<std::string>{});
  work->commit();
  EXPECT_TRUE(rows_.read(std::array{key_}).front());
}

}  // namespace
}  // namespace rowlock::tests
