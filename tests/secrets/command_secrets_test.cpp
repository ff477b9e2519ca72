// Whatever goes wrong under the rowlock command, it prints no secret.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "secrets/spoken.hpp"
#include "support/fake_postgres.hpp"
#include "support/mysql_database.hpp"
#include "support/postgres_schema.hpp"

namespace rowlock::tests {
namespace {

/// Every subcommand, each of which fails.
void expect_unsaid(const std::string& url, const words& more = {},
                   const std::string& innocent = {}) {
  SCOPED_TRACE(url);
  spoken said{innocent};
  const words key{"--type", "invoice", "--source", "42", "--wait", "1ms", "--", "true"};
  for (const auto& command : {words{"list", url} + more, words{"list", "--json", url} + more,
                              words{"top", "--once", url} + more, words{"run", url} + more + key}) {
    const auto failed = run_rowlock(command);
    EXPECT_NE(failed.code, 0);
    said.record(failed.output + failed.errors);
  }
  const auto migrated = run_rowlock(words{"migrate", url} + more);
  said.record(migrated.output + migrated.errors);
  said.expect_no_secret(url);
}

TEST(CommandSecrets, AreUnsaidWhenTheUrlIsWrong) {
  for (const auto& url : std::vector<std::string>{
           "postgresql://app:" + password + "%zz@db/shop", "host=db password='" + password,
           "host=db pass=" + password, "postgresql://app:" + password + "@[db/shop",
           "mysql://app:" + password + "%zz@db/shop", "mysql://app:" + password + "@db",
           "mysql://app:" + password + "@db:port/shop", "mysql://app:" + password + "@/shop?x=y",
           "soci:mysql://password='" + password, "soci:firebird://password=" + password,
           "soci:" + password, "sqlite://host/" + password, "oracle://app:" + password + "@db",
           password}) {
    expect_unsaid(url);
  }
}

TEST(CommandSecrets, AreUnsaidWhenThereIsNoConnection) {
  expect_unsaid("postgresql://app:" + password + "@127.0.0.1:1/shop");
  expect_unsaid("mysql://app:" + password + "@127.0.0.1:1/shop");
  expect_unsaid("soci:mysql://host=127.0.0.1 port=1 db=shop user=app password=" + password);
  expect_unsaid("soci:postgresql://host=127.0.0.1 port=1 user=app password=" + password);
  fake_postgres server{[](const login& said) {
    return fake_postgres::reason{"28P01", "password authentication failed: " + said.password};
  }};
  const auto at = "app:" + password + "@127.0.0.1:" + std::to_string(server.port()) + "/shop";
  expect_unsaid("postgresql://" + at);
  expect_unsaid("soci:postgresql://" + at);
  auto of_mariadb = mariadb_url();
  of_mariadb.replace(0, of_mariadb.find('@'), "mysql://no_such_user:" + password);
  expect_unsaid(of_mariadb);
}

TEST(CommandSecrets, AreMaskedWhateverBringsThemIntoAMessage) {
  const postgres_schema schema;
  const words table{"--table", schema.table().text()};
  ASSERT_EQ(run_rowlock(words{"migrate", postgres_url()} + table).code, 0);
  // A password that is not used without a client's key, so that the login is as before.
  const bool is_url = postgres_url().find("://") != std::string::npos;
  const std::string mark = postgres_url().find('?') == std::string::npos ? "?" : "&";
  const auto url = postgres_url() + (is_url ? mark : " ") + "sslpassword=" + password;
  const auto shown =
      run_rowlock(words{"show", url} + table + words{"--type", password, "--source", "1"});
  EXPECT_EQ(shown.code, 66);
  EXPECT_NE(shown.errors.find("***/1"), std::string::npos) << shown.errors;
  spoken said{schema.name()};
  said.record(shown.errors);
  said.expect_no_secret(url);
}

TEST(CommandSecrets, AreUnsaidWhenTheTableRefusesTheOwner) {
  const postgres_schema schema;
  const words table{"--table", schema.table().text()};
  ASSERT_EQ(run_rowlock(words{"migrate", postgres_url()} + table).code, 0);
  postgres_schema::execute(
      "create function " + schema.name() + ".disturb() returns trigger language plpgsql as " +
      "$$ begin raise exception 'no owner % here', new.owner; end $$; create trigger disturbing " +
      schema.table().in("before insert on shared_lock for each row execute function ") +
      schema.name() + ".disturb()");
  const auto on_postgres = run_rowlock(words{"run", postgres_url()} + table +
                                       words{"--type", "a", "--source", "1", "--", "true"});
  const mysql_database database;
  ASSERT_EQ(run_rowlock({"migrate", database.url()}).code, 0);
  database.execute(
      "create trigger disturbing before insert on shared_lock for each row begin "
      "declare said text default concat('no owner ', new.owner); "
      "signal sqlstate '45000' set message_text = said; end");
  const auto on_mariadb =
      run_rowlock({"run", database.url(), "--type", "a", "--source", "1", "--", "true"});
  for (const auto& failed : {on_postgres, on_mariadb}) {
    EXPECT_EQ(failed.code, 69) << failed.errors;
    spoken said{schema.name()};
    said.record(failed.output + failed.errors);
    said.expect_no_secret(database.url());
  }
}

}  // namespace
}  // namespace rowlock::tests
