// The store through SOCI on PostgreSQL: its sessions, and what is reported when they fail.
#include <soci/version.h>

#include <future>

#include "rowlock/lock_table.hpp"
#include "rowlock/soci_store.hpp"
#include "soci/soci_postgres_table.hpp"
#include "support/fake_postgres.hpp"
#include "support/recorded_commits.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

class SociPostgres : public soci_postgres_table {
 protected:
  [[nodiscard]] std::string named_url() const {
    return soci_url() + " application_name=" + schema();
  }
  [[nodiscard]] std::string its_backends() const {
    return " from pg_stat_activity where application_name = '" + schema() + "'";
  }
};

caught_error error_of_reading(const std::string& connection_string) {
  return error_of([&] {
    soci_store rows{connection_string, {.connect_timeout = 1s}};
    (void)rows.list();
  });
}

TEST_F(SociPostgres, TellsAFailedLoginByItsReasonAndShowsNoSecret) {
  const std::vector<std::pair<fake_postgres::reason, errc>> reasons{
      {{"28P01", "password authentication failed for user \"app\""}, errc::rejected},
      {{"3D000", "database \"shop\" does not exist"}, errc::rejected},
      {{"53300", "sorry, too many clients already"}, errc::unavailable},
      {{"57P03", "the database system is starting up"}, errc::unavailable},
  };
  for (const auto& each : reasons) {
    // By a server that repeats the password.
    fake_postgres server{[&](const login& said) {
      return fake_postgres::reason{each.first.sqlstate, each.first.message + said.password};
    }};
    const auto port = std::to_string(server.port());
    for (const auto& url :
         {"postgresql://host=127.0.0.1 user=app dbname=shop password=sesame42 port=" + port,
          "postgresql://app:sesame42@127.0.0.1:" + port + "/shop"}) {
      const auto caught = error_of_reading(url);
      EXPECT_EQ(caught.kind, each.second) << caught.message();
      expect_unsaid(caught, "sesame42");
      EXPECT_EQ(server.logins().back().password, "sesame42");
    }
  }
}

TEST_F(SociPostgres, WhereARoleHasOneConnectionSharesItAndSaysWhoseLimitItIs) {
  test_role role{server_};
  server_.query("grant usage on schema " + schema() + " to " + role.name());
  server_.query("grant select on all tables in schema " + schema() + " to " + role.name());
  server_.query("alter role " + role.name() + " connection limit 1");
  const auto url = "postgresql://" + role.url().substr(role.url().find("://") + 3);
  auto options = long_waits_of_soci();
  options.table = table();
  options.pool_timeout = 200ms;
  soci_store rows{url + "&application_name=" + schema(), options};
  (void)rows.list();
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  auto listing = std::async(std::launch::async, [&] { return rows.list().size(); });
  server_.await("select count(*) = 1" + its_backends() + " and wait_event_type = 'Lock'");
  const auto caught = error_of([&] { (void)rows.list(); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("ALTER ROLE ... CONNECTION LIMIT"), std::string::npos)
      << caught.message();
  rival.work.abort();
  EXPECT_EQ(listing.get(), 0U);
}

TEST_F(SociPostgres, IsGivenAnotherConnectionStringWhenTheServerRefusesTheLogin) {
  const auto missing = soci_url() + " user=r_" + make_owner_id().text;
  soci_store rows{missing, {.table = table(), .connection_string_now = [] { return soci_url(); }}};
  EXPECT_TRUE(rows.list().empty());
}

TEST_F(SociPostgres, LogsInOnceWhereTheConnectionStringIsStillTheSame) {
  fake_postgres server{[](const login&) {
    return fake_postgres::reason{"28P01", "password authentication failed for user \"app\""};
  }};
  const auto url = "postgresql://app:sesame@127.0.0.1:" + std::to_string(server.port()) + "/shop";
  soci_store rows{url, {.connection_string_now = [&] { return url; }}};
  EXPECT_THROW((void)rows.list(), login_refused);
  EXPECT_EQ(server.logins().size(), 1U);
}

TEST_F(SociPostgres, NamesTheSameWeakSettingsAsTheStoreOfLibpqxx) {
  postgres_store other{postgres_url(), {.table = table()}};
  EXPECT_EQ(open_store().weak_settings(), other.weak_settings());
}

TEST_F(SociPostgres, NamesItsSessionsAfterTheHolderUnlessItsStringNamesThem) {
  auto rows = open_store(soci_url());
  lock_table locks{rows};
  const auto held = locks.try_acquire(key_);
  EXPECT_GE(server_.value<int>("select count(*)::int from pg_stat_activity where application_name ="
                               " (select left('rowlock ' || holder, 63) from " +
                               name() + ")"),
            1);
  auto named = open_store(named_url());
  (void)named.list();
  EXPECT_EQ(server_.value<int>("select count(*)::int" + its_backends()), 1);
}

// libpq's own way is to print them.
TEST_F(SociPostgres, PrintsNoNoticeOfATrigger) {
  server_.query("create function " + schema() + ".talk() returns trigger language plpgsql as " +
                "$$ begin raise notice 'spoken'; raise warning 'spoken'; return new; end $$");
  server_.query("create trigger talking before update or insert on " + name() +
                " for each row execute function " + schema() + ".talk()");
  auto rows = open_store();
  testing::internal::CaptureStderr();
  const auto granted = acquire(rows, key_).status;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(granted, acquire_status::granted);
}

TEST_F(SociPostgres, PassesParametersOnAsTheyAreMeant) {
  fake_postgres server{[](const login&) { return fake_postgres::reason{"28P01", "no"}; }};
  error_of_reading(R"(postgresql://user=app password='ses "ame=42\\' host=127.0.0.1 port=)" +
                   std::to_string(server.port()));
  EXPECT_EQ(server.logins().at(0).password, "ses \"ame=42\\");
}

TEST_F(SociPostgres, PassesAQuoteOnUnlessSociWouldMisreadIt) {
  fake_postgres server{[](const login&) { return fake_postgres::reason{"28P01", "no"}; }};
  const auto caught =
      error_of_reading(R"(postgresql://user=app password='sesame\'42' host=127.0.0.1 port=)" +
                       std::to_string(server.port()));
  expect_unsaid(caught, "sesame");
#if SOCI_VERSION >= 400100
  EXPECT_EQ(caught.kind, errc::misuse);
#else
  EXPECT_EQ(server.logins().at(0).password, "sesame'42");
#endif
}

TEST_F(SociPostgres, TakesParametersThatCannotBePassedOnForMisuseAndShowsNoPartOfThem) {
  for (const auto* url :
       {"postgresql://host=db password=sesame 42open", "postgresql://host='sesame42open",
        "postgresql://app:sesame42open@[host/shop", "postgresql://password='sesame  42open'",
        "postgresql://password='sesame 42open=\"'"}) {
    const auto caught = error_of([&] { soci_store{std::string{url}}; });
    EXPECT_EQ(caught.kind, errc::misuse) << url;
    expect_unsaid(caught, "sesame");
    expect_unsaid(caught, "42open");
  }
}

TEST_F(SociPostgres, ShowsNoOwnerWhenTheServersSentenceDoes) {
  auto rows = open_store();
  refuse_owners();
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::misuse);
  expect_unsaid(caught, mine_.text);
}

TEST_F(SociPostgres, ShowsNoOwnerAndNoStatementWhenATableIsMissing) {
  auto rows = open_store();
  (void)rows.list();
  server_.query("drop table " + name() + " cascade");
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("rowlock migrate"), std::string::npos) << caught.message();
  EXPECT_EQ(caught.messages.size(), 2U) << "the server's own sentence is nested";
  expect_unsaid(caught, mine_.text);
  expect_unsaid(caught, "clock_timestamp");
}

TEST_F(SociPostgres, SaysHowToMigrateAndMigratesOnce) {
  const table_name fresh{schema() + ".second_lock"};
  soci_store rows{soci_url(), {.table = fresh}};
  EXPECT_NE(error_of([&] { (void)rows.list(); }).message().find("rowlock migrate"),
            std::string::npos);
  EXPECT_EQ(migrate_soci(soci_url(), fresh).size(), postgres_migrations(fresh).size());
  EXPECT_TRUE(migrate_soci(soci_url(), fresh).empty());
  EXPECT_EQ(rows.list().size(), 0U);
}

TEST_F(SociPostgres, MigratesNothingWhereSomethingElseIsInTheWay) {
  server_.query("create table " + schema() + ".third_lock ()");
  const auto caught =
      error_of([&] { migrate_soci(soci_url(), table_name{schema() + ".third_lock"}); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("rename it"), std::string::npos) << caught.message();
  EXPECT_TRUE(
      server_.value<bool>("select to_regclass('" + schema() + ".third_lock_schema') is null"));
}

TEST_F(SociPostgres, DoesNotWaitLongForOneWhoLocksTheTable) {
  soci_store rows{soci_url(), {.table = table(), .lock_timeout = 200ms}};
  (void)rows.list();
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("ALTER TABLE"), std::string::npos) << caught.message();
}

TEST_F(SociPostgres, ReplacesASessionThatTheServerEnded) {
  auto rows = open_store(named_url());
  const auto granted = acquire(rows, key_);
  server_.query("select pg_terminate_backend(pid, 10000)" + its_backends());
  server_.await("select count(*) = 0" + its_backends());
  EXPECT_EQ(renew(rows, key_, *granted.version), change_answer::done);
}

TEST_F(SociPostgres, SaysThatTheOutcomeIsUnknownWhenTheAnswerGetsLostAndAdoptsTheGrant) {
  tcp_proxy proxy{server_.host(), server_.port()};
  auto rows = open_store(soci_url(url_through(proxy)));
  release(rows, key_, *acquire(rows, key_).version);
  proxy.swallow_reply("SKIP LOCKED");
  EXPECT_EQ(error_of([&] { acquire(rows, key_); }).kind, errc::outcome_unknown);
  const auto answer = acquire(rows, key_);
  EXPECT_EQ(answer.status, acquire_status::granted);
  EXPECT_EQ(answer.version, open_store().read(std::array{key_}).front()->version);
}

TEST_F(SociPostgres, GivesUpAnAnswerThatDoesNotCome) {
  tcp_proxy proxy{server_.host(), server_.port()};
  soci_store rows{soci_url(url_through(proxy)), {.table = table(), .answer_timeout = 1s}};
  (void)rows.list();
  proxy.black_hole();
  EXPECT_EQ(error_of([&] { (void)rows.list(); }).kind, errc::unavailable);
  proxy.pass();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_F(SociPostgres, PinsItsSessionsWhateverTheirParametersSay) {
  soci::connection_pool pool{1};
  pool.at(0).open(soci_url() + " options='-c default_transaction_isolation=serializable'");
  {
    soci_store rows{pool, {.table = table(), .pool_size = 1, .statement_timeout = 1500ms}};
    (void)rows.list();
  }
  std::string isolation;
  std::string limit;
  pool.at(0) << "show default_transaction_isolation", soci::into(isolation);
  pool.at(0) << "show statement_timeout", soci::into(limit);
  EXPECT_EQ(isolation, "read committed");
  EXPECT_EQ(limit, "1500ms");
}

TEST_F(SociPostgres, GivesUpAStatementThatTakesTooLong) {
  soci_store rows{soci_url() + " options='-c lock_timeout=0'",
                  {.table = table(), .statement_timeout = 200ms}};
  await_first_answer(rows);
  open_work stranger;
  stranger.work.exec("lock table " + name());
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("took too long"), std::string::npos) << caught.message();
}

TEST_F(SociPostgres, ConnectsASessionOfTheApplicationsPoolAnew) {
  soci::connection_pool pool{1};
  pool.at(0).open(soci_url());
  soci_store rows{pool, {.table = table(), .pool_size = 1}};
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  terminate(pool.at(0));
  EXPECT_EQ(acquire(rows, other_key_).status, acquire_status::granted);
}

// SOCI asks the server whether a session is connected, and waits for the answer without a limit.
TEST_F(SociPostgres, LosesSuspectSessionsOfTheApplicationsPoolWithoutAskingThem) {
  soci::connection_pool pool{3};
  for (std::size_t i = 0; i < 3; ++i) pool.at(i).open(named_url());
  auto options = long_waits_of_soci();
  options.table = table();
  options.pool_size = 3;
  soci_store rows{pool, options};
  std::vector<int> processes(2);
  for (std::size_t i = 0; i < 2; ++i) {
    pool.at(i) << "select pg_backend_pid()", soci::into(processes[i]);
  }
  const auto await_blocked = [&](int calls) {
    server_.await("select count(*) = " + std::to_string(calls) + its_backends() +
                  " and wait_event_type = 'Lock'");
  };
  const auto list = [&] { return rows.list().size(); };
  (void)list();
  {
    open_work rival;
    rival.work.exec("lock table " + name() + " in access exclusive mode");
    auto one = std::async(std::launch::async, list);
    auto two = std::async(std::launch::async, list);
    await_blocked(2);
    rival.work.abort();
  }
  {
    open_work rival;
    rival.work.exec("lock table " + name() + " in access exclusive mode");
    auto lost = std::async(std::launch::async, list);
    await_blocked(1);
    server_.query("select pg_terminate_backend(pid)" + its_backends() +
                  " and wait_event_type = 'Lock'");
    EXPECT_EQ(error_of([&] { (void)lost.get(); }).kind, errc::unavailable);
  }
  EXPECT_EQ(list(), 0U);
  server_.await("select count(*) = 0" + its_backends() + " and pid in (" +
                std::to_string(processes[0]) + ", " + std::to_string(processes[1]) + ")");
}

TEST_F(SociPostgres, RefusesASessionInATransaction) {
  soci::connection_pool pool{1};
  pool.at(0).open(soci_url());
  const soci::transaction open{pool.at(0)};
  soci_store rows{pool, {.table = table(), .pool_size = 1}};
  const auto caught = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(caught.kind, errc::misuse);
  EXPECT_NE(caught.message().find("open transaction"), std::string::npos) << caught.message();
}

TEST_F(SociPostgres, ReleasesWithoutWaitingForTheDiskUnlessAskedTo) {
  const auto normal = server_.value<std::string>("show synchronous_commit");
  recorded_commits commits{server_, name()};
  soci_store rows{soci_url(), {.table = table()}};
  const auto pair = [&](bool durable) {
    const std::array ended{release_request{
        .key = key_, .owner = mine_, .version = *acquire(rows, key_).version, .durable = durable}};
    EXPECT_EQ(rows.release(ended).front(), change_answer::done);
    return commits.take();
  };
  EXPECT_EQ(pair(false), (std::vector<std::string>{normal, "off"}));
  EXPECT_EQ(pair(true), (std::vector<std::string>{normal, normal}));
}

}  // namespace
}  // namespace rowlock::tests
