// How the connections of a store come about: from a string, a service file, or the application.
#include <atomic>
#include <functional>
#include <string>

#include "postgres/postgres_connection.hpp"
#include "rowlock/lock_table.hpp"
#include "support/service_file.hpp"

namespace rowlock::tests {
namespace {

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
  pqxx::nontransaction reader{*ours};
  EXPECT_EQ(reader.exec("show default_transaction_isolation")[0][0].as<std::string>(),
            "read committed");
}

TEST_F(PostgresConnection, OfAServiceIsPinnedToReadCommittedAndHasTimeLimitsUnlessTheServiceHas) {
  // What a session has, at a grant of a key.
  const lock_key third_key{"invoice", "44"};
  open_store().read(std::array{key_, other_key_, third_key}, read_mode::ready_to_commit);
  server_.query("create table " + schema() + ".seen (isolation text, limits text)");
  server_.query(
      "create function " + schema() +
      ".see() returns trigger language plpgsql as $$ begin insert into " + schema() +
      ".seen values (current_setting('transaction_isolation'),"
      " current_setting('statement_timeout') || ' and ' || current_setting('lock_timeout'));"
      " return null; end $$");
  server_.query("create trigger see after update on " + name() + " for each row execute function " +
                schema() + ".see()");
  test_role role{server_};
  server_.query("alter role " + role.name() +
                " set default_transaction_isolation = 'repeatable read'");
  server_.query("grant usage on schema " + schema() + " to " + role.name());
  server_.query("grant all on all tables in schema " + schema() + " to " + role.name());
  const service_file services{
      service_on(server_, "bare", role) +
      service_on(server_, "limited", role, "options=-c statement_timeout=77s -c lock_timeout=55s")};

  const auto seen_by = [&](const std::string& url, const lock_key& key,
                           const std::function<std::string()>& url_now = {}) {
    postgres_store rows{url,
                        {.table = table(),
                         .statement_timeout = 8s,
                         .lock_timeout = 3s,
                         .connection_string_now = url_now}};
    EXPECT_EQ(acquire(rows, key).status, acquire_status::granted);
    return server_.value<std::string>("delete from " + schema() +
                                      ".seen returning isolation || ', ' || limits");
  };
  EXPECT_EQ(seen_by("service=bare", key_), "read committed, 8s and 3s");
  EXPECT_EQ(seen_by("service=limited", other_key_), "read committed, 77s and 55s");
  // A service that is named after a login was refused.
  EXPECT_EQ(seen_by(url_with("user=r_" + make_owner_id().text), third_key,
                    [] { return std::string{"service=bare"}; }),
            "read committed, 8s and 3s");
}

TEST_F(PostgresConnection, IsNamedAfterTheProcessUnlessItsStringNamesIt) {
  auto rows = open_store();
  lock_table locks{rows};
  const auto held = locks.try_acquire(key_);
  const auto sessions = [&](const std::string& named) {
    return server_.value<int>(
        "select count(*)::int from pg_stat_activity where application_name = " + named);
  };
  EXPECT_EQ(sessions("(select left('rowlock ' || holder, 63) from " + name() + ")"), 1);
  auto named = open_named_store();
  (void)named.list();
  EXPECT_EQ(sessions("'" + schema() + "'"), 1);
}

TEST_F(PostgresConnection, TakesKeysAsUtf8WhateverEncodingTheClientHas) {
  auto rows = open_store(url_with("client_encoding=LATIN1"));
  const lock_key key{"invoice", "\u00fcn\u00ef"};
  ASSERT_EQ(acquire(rows, key).status, acquire_status::granted);
  EXPECT_EQ(server_.value<int>("select octet_length(source_id) from " + name()), 5);
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
  const auto caught = error_of([&] { (void)rows.list(); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_EQ(caught.messages.size(), 1U);
  EXPECT_EQ(caught.message().find("/no/such/folder"), std::string::npos);
}

TEST_F(PostgresConnection, PoolOfNoneIsMisuse) {
  EXPECT_EQ(error_of([&] {
              postgres_store{postgres_url(), {.table = table(), .pool_size = 0}};
            }).kind,
            errc::misuse);
}

}  // namespace
}  // namespace rowlock::tests
