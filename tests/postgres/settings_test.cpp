// Settings of the server, or of a role, that weaken a promise, or that the statements do not
// expect.
#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

class PostgresSettings : public postgres_table {
 protected:
  PostgresSettings() {
    server_.query("grant usage on schema " + schema() + " to " + role_.name());
    server_.query("grant all on all tables in schema " + schema() + " to " + role_.name());
  }
  void set(const std::string& setting) {
    server_.query("alter role " + role_.name() + " set " + setting);
  }
  /// A store of a role that has `setting`.
  postgres_store open_store_with(const std::string& setting) {
    set(setting);
    return open_store(role_.url());
  }
  /// A store of the role whose connections the application makes.
  postgres_store open_store_by_factory(
      std::chrono::milliseconds lock_timeout = postgres_options{}.lock_timeout) const {
    return postgres_store{[url = role_.url()] { return std::make_unique<pqxx::connection>(url); },
                          {.table = table(), .lock_timeout = lock_timeout}};
  }
  acquire_request request(const std::string& id) const {
    return {.key = {"job", id}, .owner = mine_, .holder = "h", .ttl = std::chrono::hours{1}};
  }
  /// Calls whose values have nulls.
  void expect_to_work(store& rows) {
    const std::vector requests{request("1"), request("2"), request("3")};
    std::vector<release_request> releases;
    for (const auto& granted : rows.acquire(requests)) {
      ASSERT_EQ(granted.status, acquire_status::granted);
      releases.push_back(
          {.key = requests[releases.size()].key, .owner = mine_, .version = *granted.version});
    }
    EXPECT_EQ(rows.release(releases), std::vector(3, change_answer::done));
    EXPECT_EQ(rows.acquire(requests, {acquire_mode::all_or_none}).front().status,
              acquire_status::granted);
    server_.query("update " + name() + " set owner = null, expires_at = 'epoch'");
  }

  const test_role role_{server_};
  const owner_id mine_ = make_owner_id();
};

bool speaks_of(const std::vector<std::string>& weak, const std::string& name) {
  return std::any_of(weak.begin(), weak.end(),
                     [&](const std::string& each) { return each.starts_with(name + " is off"); });
}

TEST_F(PostgresSettings, ThatLetAcknowledgedCommitsBeLostAreNamed) {
  EXPECT_TRUE(
      speaks_of(open_store_with("synchronous_commit = off").weak_settings(), "synchronous_commit"));
  EXPECT_FALSE(
      speaks_of(open_store_with("synchronous_commit = on").weak_settings(), "synchronous_commit"));
  EXPECT_EQ(speaks_of(open_store().weak_settings(), "fsync"),
            server_.value<std::string>("show fsync") == "off");
}

TEST_F(PostgresSettings, ThatLeaveTriggersOutAreNamed) {
  const auto weak = open_store_with("session_replication_role = replica").weak_settings();
  ASSERT_FALSE(weak.empty());
  EXPECT_TRUE(weak.back().starts_with("session_replication_role is replica")) << weak.back();
}

TEST_F(PostgresSettings, OfTheRoleDoNotReachStores) {
  for (const auto* setting : {"array_nulls = off",
                              "exit_on_error = on",
                              "default_transaction_isolation = serializable",
                              "default_transaction_deferrable = on",
                              "jit_above_cost = 0",
                              "timezone = 'Asia/Kathmandu'",
                              "datestyle = 'SQL, DMY'",
                              "intervalstyle = sql_standard",
                              "extra_float_digits = -15",
                              "bytea_output = escape",
                              "standard_conforming_strings = off",
                              "backslash_quote = off",
                              "transform_null_equals = on",
                              "quote_all_identifiers = on",
                              "xmloption = document",
                              "check_function_bodies = off",
                              "client_encoding = LATIN1",
                              "client_min_messages = error",
                              "plan_cache_mode = force_custom_plan",
                              "enable_tidscan = off",
                              "enable_indexscan = off",
                              "enable_nestloop = off"}) {
    set(setting);
  }
  auto by_string = open_store(role_.url());
  expect_to_work(by_string);
  auto by_factory = open_store_by_factory();
  expect_to_work(by_factory);
}

// A grant in it would be rolled back with the connection.
TEST_F(PostgresSettings, DoNotIncludeAnOpenTransactionOnAConnectionOfAFactory) {
  postgres_store rows{[url = role_.url()] {
                        auto made = std::make_unique<pqxx::connection>(url);
                        pqxx::nontransaction{*made}.exec("begin");
                        return made;
                      },
                      {.table = table()}};
  EXPECT_EQ(error_of([&] { rows.acquire(std::array{request("1")}); }).kind, errc::misuse);
}

TEST_F(PostgresSettings, LimitTheWaitForALockOnConnectionsOfAFactoryToo) {
  auto rows = open_store_by_factory(std::chrono::milliseconds{10});
  (void)rows.read(std::array{lock_key{"job", "1"}});
  open_work rival;
  rival.work.exec("lock table " + name());
  const auto caught = error_of([&] { (void)rows.read(std::array{lock_key{"job", "1"}}); });
  EXPECT_NE(caught.message().find("locks the whole table"), std::string::npos) << caught.message();
}

// The end of a wait for a row would be the end of the statement, which is a fault.
TEST_F(PostgresSettings, LimitTheWaitForALockByHalfOfTheStatementsTime) {
  postgres_store by_string{postgres_url(),
                           {.table = table(), .statement_timeout = std::chrono::milliseconds{500}}};
  set("statement_timeout = '500ms'");
  auto by_factory = open_store_by_factory();
  for (auto* rows : {&by_string, &by_factory}) {
    await_first_answer(*rows);
    open_work rival;
    rival.work.exec("lock table " + name());
    const auto caught = error_of([&] { (void)rows->read(std::array{lock_key{"job", "1"}}); });
    EXPECT_NE(caught.message().find("locks the whole table"), std::string::npos)
        << caught.message();
  }
}

// With exit_on_error it would: every refused lock of the table would cost a connection.
TEST_F(PostgresSettings, LetNoErrorEndASession) {
  set("exit_on_error = on");
  const auto count = [&] {
    return server_.value<int>("select count(*) from pg_stat_activity where usename = '" +
                              role_.name() + "'");
  };
  postgres_store rows{role_.url(),
                      {.table = table(), .lock_timeout = std::chrono::milliseconds{10}}};
  (void)rows.read(std::array{lock_key{"job", "1"}});
  open_work rival;
  rival.work.exec("lock table " + name());
  EXPECT_EQ(error_of([&] {
              (void)rows.read(std::array{lock_key{"job", "1"}});
            }).kind,
            errc::unavailable);
  EXPECT_EQ(count(), 1);
}

// Another method has other places of rows, or none.
TEST_F(PostgresSettings, OfTableAccessMethodsDoNotReachMigrations) {
  const auto other = "m_" + make_owner_id().text;
  server_.query("create access method " + other + " type table handler heap_tableam_handler");
  const table_name made{schema() + ".another"};
  migrate_postgres(url_with("options=-cdefault_table_access_method%3D" + other), made);
  EXPECT_EQ(
      server_.value<std::string>("select amname from pg_class c join pg_am a on a.oid = relam "
                                 "where c.oid = '" +
                                 made.text() + "'::regclass"),
      "heap");
  server_.query("drop access method " + other + " cascade");
}

TEST_F(PostgresSettings, OfASessionOfTheApplicationDoNotReachItsRelease) {
  auto rows = open_store();
  lock_table locks{rows};
  const auto held = *locks.try_acquire_all({{"job", "1"}, {"job", "2"}});
  open_work application;
  application.work.exec("set local array_nulls = off");
  release_with(application.work, held, {}, table());
  application.work.commit();
  EXPECT_TRUE(locks.try_acquire_all({{"job", "1"}, {"job", "2"}}).acquired());
}

TEST_F(PostgresSettings, ThatMakeItAnotherRoleGiveItsRights) {
  const test_role nobody{server_};
  server_.query("grant " + role_.name() + " to " + nobody.name());
  server_.query("alter role " + nobody.name() + " noinherit");
  server_.query("alter role " + nobody.name() + " set role = " + role_.name());
  auto rows = open_store(nobody.url());
  expect_to_work(rows);
  EXPECT_EQ(rows.inspect().missing_rights->size(), 0U);
}

class once_listening final : public release_listener {
 public:
  void released(const lock_key& /*key*/) noexcept override {}
  void listening() noexcept override { begun_.set_value(); }
  void await() { begun_.get_future().get(); }

 private:
  std::promise<void> begun_;
};

TEST_F(PostgresSettings, OfIdleSessionsDoNotEndAListener) {
  set("idle_session_timeout = '50ms'");
  auto rows = open_store(role_.url());
  once_listening notified;
  const auto listening = rows.listen(notified);
  notified.await();
  const auto of_the_role = " from pg_stat_activity where usename = '" + role_.name() + "'";
  const auto listener = server_.value<int>("select max(pid)" + of_the_role);
  const pqxx::connection idle{role_.url()};
  server_.await("select count(*) = 0" + of_the_role + " and pid <> " + std::to_string(listener));
  EXPECT_EQ(server_.value<int>("select max(pid)" + of_the_role), listener);
}

}  // namespace
}  // namespace rowlock::tests
