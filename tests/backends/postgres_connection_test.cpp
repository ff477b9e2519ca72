// The connections of a store: shared, lost, replaced, and made by the application.
#include <atomic>
#include <future>

#include "backends/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "support/forked_child.hpp"
#include "support/service_file.hpp"

namespace rowlock::tests {
namespace {

class PostgresConnection : public postgres_table {
 protected:
  /// A store whose connections can be told from others.
  postgres_store open_named_store(unsigned pool_size = 4) {
    return postgres_store{url_with("application_name=" + schema()),
                          {.table = table(), .pool_size = pool_size, .pool_timeout = 200ms}};
  }
  static std::string url_with(const std::string& parameter) {
    const char* separator = postgres_url().find('?') == std::string::npos ? "?" : "&";
    return postgres_url() + separator + parameter;
  }
  [[nodiscard]] std::string backends() const {
    return " from pg_stat_activity where application_name = '" + schema() + "'";
  }
  /// Ends the store's connections; returns when they are gone.
  void terminate_backends() {
    server_.ask("select pg_terminate_backend(pid, 10000)" + backends());
    server_.await("select count(*) = 0" + backends());
  }
  std::int64_t count_backends() {
    return server_.value<std::int64_t>("select count(*)" + backends());
  }

  using make_connection = std::function<std::unique_ptr<pqxx::connection>()>;
};

TEST_F(PostgresConnection, IsOpenedWithTheFirstCall) {
  const auto rows = open_named_store();
  EXPECT_EQ(count_backends(), 0);
}

TEST_F(PostgresConnection, IsUsedAgainByTheNextCall) {
  auto rows = open_named_store();
  for (int i = 0; i < 5; ++i) (void)rows.list();
  EXPECT_EQ(count_backends(), 1);
}

TEST_F(PostgresConnection, ThatTheServerClosedMeanwhileIsReplacedUnnoticed) {
  auto rows = open_named_store();
  const auto granted = acquire(rows, key_);
  terminate_backends();
  EXPECT_EQ(renew(rows, key_, *granted.version), renew_answer::renewed);
  terminate_backends();
  EXPECT_EQ(release(rows, key_, *granted.version), release_answer::released);
  terminate_backends();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  terminate_backends();
  EXPECT_EQ(rows.list().size(), 1U);
}

TEST_F(PostgresConnection, LostUnderAWriteIsAnUnknownOutcomeAndUnderAReadUnavailable) {
  auto rows = open_named_store();
  (void)rows.list();
  const std::vector<std::pair<std::function<void()>, errc>> calls{
      {[&] { acquire(rows, key_); }, errc::outcome_unknown},
      {[&] { renew(rows, key_, {1}); }, errc::outcome_unknown},
      {[&] { release(rows, key_, {1}); }, errc::outcome_unknown},
      {[&] { rows.read(std::array{key_}); }, errc::unavailable},
      {[&] { (void)rows.list(); }, errc::unavailable},
  };
  for (const auto& [call, kind] : calls) {
    open_work rival;
    rival.work.exec("lock table " + name() + " in access exclusive mode");
    auto failing = std::async(std::launch::async, [&call = call] { return error_of(call); });
    server_.await("select count(*) = 1" + backends() + " and wait_event_type = 'Lock'");
    terminate_backends();
    EXPECT_EQ(failing.get().kind, kind);
  }
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_F(PostgresConnection, ThatIsNotFreeInTimeIsUnavailableAndSaysWhichOptionToRaise) {
  auto rows = open_named_store(1);
  (void)rows.list();
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  auto waiting = std::async(std::launch::async, [&] { return rows.list().size(); });
  server_.await("select count(*) = 1" + backends() + " and wait_event_type = 'Lock'");
  const auto told = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(told.kind, errc::unavailable);
  EXPECT_EQ(told.message().substr(0, 55),
            "all 1 connections are busy; raise pool_size: it did not");
  rival.work.abort();
  EXPECT_EQ(waiting.get(), 0U);
}

TEST_F(PostgresConnection, OfSeveralIsKeptForRenewalsAndReleases) {
  auto rows = open_named_store(3);
  const auto granted = acquire(rows, key_);
  const auto others = acquire(rows, other_key_);
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  const auto await_waiting = [&](int count) {
    server_.await("select count(*) = " + std::to_string(count) + backends() +
                  " and wait_event_type = 'Lock'");
  };
  std::vector<std::future<std::size_t>> looking;
  for (int i = 0; i < 2; ++i) {
    looking.push_back(std::async(std::launch::async, [&] { return rows.list().size(); }));
  }
  await_waiting(2);
  const auto told = error_of([&] { acquire(rows, key_); });
  EXPECT_EQ(told.kind, errc::unavailable);
  EXPECT_NE(told.message().find("one more is kept for renewals"), std::string::npos);

  auto renewing =
      std::async(std::launch::async, [&] { return renew(rows, key_, *granted.version); });
  await_waiting(3);
  rival.work.abort();
  EXPECT_EQ(renewing.get(), renew_answer::renewed);
  for (auto& each : looking) EXPECT_EQ(each.get(), 2U);
  EXPECT_EQ(release(rows, other_key_, *others.version), release_answer::released);
}

TEST_F(PostgresConnection, OfAPoolOfOneIsEnoughForALockInsideAnother) {
  auto rows = open_named_store(1);
  lock_table locks{rows};
  const auto inner =
      locks.with_lock(key_, [&] { return locks.with_lock(other_key_, [] {}).acquired(); });
  ASSERT_TRUE(inner.acquired());
  EXPECT_TRUE(*inner);
}

TEST_F(PostgresConnection, IsSharedByMoreThreadsThanThereAre) {
  postgres_store rows{url_with("application_name=" + schema()), {.table = table(), .pool_size = 2}};
  std::vector<std::future<int>> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.push_back(std::async(std::launch::async, [&, thread] {
      int grants = 0;
      for (int i = 0; i < 50; ++i) {
        const lock_key key{"thread", std::to_string(thread)};
        const auto granted = acquire(rows, key);
        if (granted.status != acquire_status::granted) continue;
        if (release(rows, key, *granted.version) == release_answer::released) ++grants;
      }
      return grants;
    }));
  }
  for (auto& thread : threads) EXPECT_EQ(thread.get(), 50);
  EXPECT_LE(count_backends(), 2);
}

TEST_F(PostgresConnection, SurvivesAChildThatDestroysItsCopy) {
  std::optional<postgres_store> rows;
  rows.emplace(url_with("application_name=" + schema()),
               postgres_options{.table = table(), .pool_size = 1});
  (void)rows->list();
  const auto backend = [this] { return server_.value<int>("select pid" + backends()); };
  const auto before = backend();
  const auto wrong = complaints_of_child([&](std::vector<std::string>&) { rows.reset(); });
  EXPECT_TRUE(wrong.empty());
  for (int i = 0; i < 10; ++i) (void)rows->list();
  EXPECT_EQ(backend(), before);
}

TEST_F(PostgresConnection, WithoutItsPreparedStatementsGoesOnWithoutNames) {
  // One connection, of which we keep a hand to take its statements away.
  pqxx::connection* ours = nullptr;
  postgres_store rows{make_connection{[&] {
                        auto made = std::make_unique<pqxx::connection>(postgres_url());
                        ours = made.get();
                        return made;
                      }},
                      {.table = table(), .pool_size = 1}};
  const auto statements = [&] {
    pqxx::nontransaction asking{*ours};
    return asking.exec("select name from pg_prepared_statements").size();
  };
  const auto take_away = [&] {
    pqxx::nontransaction cleaning{*ours};
    cleaning.exec("deallocate all");
  };
  const auto granted = acquire(rows, key_);
  EXPECT_GT(statements(), 0U);
  take_away();
  EXPECT_EQ(renew(rows, key_, *granted.version), renew_answer::renewed);
  take_away();
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(release(rows, key_, *granted.version), release_answer::released);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(statements(), 0U) << "it does not try names again";
}

TEST_F(PostgresConnection, OnWhichAStatementCouldNotBePreparedKeepsNames) {
  pqxx::connection* ours = nullptr;
  postgres_store rows{make_connection{[&] {
                        auto made = std::make_unique<pqxx::connection>(postgres_url());
                        ours = made.get();
                        return made;
                      }},
                      {.table = table(), .pool_size = 1}};
  const auto statements = [&] {
    pqxx::nontransaction asking{*ours};
    return asking.exec("select name from pg_prepared_statements").size();
  };
  (void)rows.list();
  const auto before = statements();
  const auto step = postgres_migrations(table()).front();
  postgres_schema::execute(step.down);
  EXPECT_EQ(error_of([&] { acquire(rows, key_); }).kind, errc::rejected);
  postgres_schema::execute(step.up);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_GT(statements(), before);
}

TEST_F(PostgresConnection, OnWhichANameIsTakenGoesOnWithoutNames) {
  std::vector<std::string> names;
  pqxx::connection* ours = nullptr;
  const make_connection make = [&] {
    auto made = std::make_unique<pqxx::connection>(postgres_url());
    pqxx::nontransaction taking{*made};
    for (const auto& taken : names) taking.exec("prepare " + taken + " as select 'not ours'");
    ours = made.get();
    return made;
  };
  {
    postgres_store rows{make, {.table = table(), .pool_size = 1}};
    acquire(rows, key_);
    pqxx::nontransaction asking{*ours};
    for (const auto& row : asking.exec("select name from pg_prepared_statements")) {
      names.push_back(row[0].as<std::string>());
    }
  }
  ASSERT_FALSE(names.empty());
  postgres_store rows{make, {.table = table(), .pool_size = 1}};
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
}

TEST_F(PostgresConnection, OfTheApplicationIsMadeByItsFactory) {
  std::atomic<int> made = 0;
  postgres_store rows{[&made] {
                        ++made;
                        return std::make_unique<pqxx::connection>(postgres_url());
                      },
                      {.table = table()}};
  EXPECT_EQ(made, 0);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  (void)rows.list();
  EXPECT_EQ(made, 1);
}

TEST_F(PostgresConnection, OfTheApplicationIsPinnedToReadCommitted) {
  pqxx::connection* ours = nullptr;
  postgres_store rows{make_connection{[&] {
                        auto made = std::make_unique<pqxx::connection>(
                            url_with("options=-c%20default_transaction_isolation%3Dserializable"));
                        ours = made.get();
                        return made;
                      }},
                      {.table = table()}};
  (void)rows.list();
  pqxx::nontransaction asking{*ours};
  EXPECT_EQ(asking.exec("show default_transaction_isolation")[0][0].as<std::string>(),
            "read committed");
}

TEST_F(PostgresConnection, OfAServiceIsPinnedToReadCommittedAndHasATimeLimitUnlessTheServiceHas) {
  // What a session has, at the grant of a key that nobody had before.
  server_.ask("create table " + schema() + ".seen (isolation text, statement_timeout text)");
  server_.ask("create function " + schema() +
              ".see() returns trigger language plpgsql as $$ begin insert into " + schema() +
              ".seen values (current_setting('transaction_isolation'),"
              " current_setting('statement_timeout')); return null; end $$");
  server_.ask("create trigger see after insert on " + name() + " for each row execute function " +
              schema() + ".see()");
  test_role role{server_};
  server_.ask("alter role " + role.name() +
              " set default_transaction_isolation = 'repeatable read'");
  server_.ask("grant usage on schema " + schema() + " to " + role.name());
  server_.ask("grant all on all tables in schema " + schema() + " to " + role.name());
  const service_file services{
      service_on(server_, "bare", role.name()) +
      service_on(server_, "limited", role.name(), "options=-c statement_timeout=77000")};

  const auto seen_by = [&](const std::string& service, const lock_key& key) {
    postgres_store rows{"service=" + service, {.table = table(), .statement_timeout = 8s}};
    EXPECT_EQ(acquire(rows, key).status, acquire_status::granted);
    return server_.value<std::string>("delete from " + schema() +
                                      ".seen returning isolation || ', ' || statement_timeout");
  };
  EXPECT_EQ(seen_by("bare", key_), "read committed, 8s");
  EXPECT_EQ(seen_by("limited", other_key_), "read committed, 77s");
}

TEST_F(PostgresConnection, OfAnotherTypeOrNoneIsMisuse) {
  postgres_store wrong{[] { return std::make_unique<int>(4711); }, {.table = table()}};
  EXPECT_EQ(error_of([&] { (void)wrong.list(); }).kind, errc::misuse);
  postgres_store none{make_connection{[] { return nullptr; }}, {.table = table()}};
  EXPECT_EQ(error_of([&] { (void)none.list(); }).kind, errc::misuse);
}

TEST_F(PostgresConnection, ThatTheFactoryCannotOpenIsToldWithoutTheDriversWords) {
  postgres_store rows{
      [] { return std::make_unique<pqxx::connection>("host=/no/such/folder password=sesame42"); },
      {.table = table()}};
  const auto told = error_of([&] { (void)rows.list(); });
  EXPECT_EQ(told.kind, errc::unavailable);
  EXPECT_EQ(told.messages.size(), 1U);
  EXPECT_EQ(told.message().find("/no/such/folder"), std::string::npos);
}

TEST_F(PostgresConnection, PoolOfNoneIsMisuse) {
  EXPECT_EQ(error_of([&] {
              postgres_store{postgres_url(), {.table = table(), .pool_size = 0}};
            }).kind,
            errc::misuse);
}

}  // namespace
}  // namespace rowlock::tests
