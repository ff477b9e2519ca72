// A server that is too old is 69, with what is needed, and the command does not run.
#include "support/old_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <string>

#include "cli/cli_test.hpp"
#include "support/mysql_database.hpp"
#include "support/postgres_schema.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;

void expect_refused(const words& where, const std::string& needed) {
  const words under_lock{"--type", "invoice", "--source", "42", "--", "echo", "hi"};
  for (const auto& command :
       {words{"list"} + where, words{"migrate"} + where, words{"run"} + where + under_lock}) {
    const auto refused = run_rowlock(command);
    EXPECT_EQ(refused.code, 69);
    EXPECT_EQ(refused.output, "");
    EXPECT_THAT(refused.errors, HasSubstr(needed));
  }
}

TEST(CliOldServerTest, IsRejectedOnMariadb) {
  const mysql_database database;
  ASSERT_EQ(run_rowlock({"migrate", database.url()}).code, 0);
  tcp_proxy proxy{"127.0.0.1", database.value("select @@port")};
  for (const auto* version : {"10.5.29-MariaDB", "8.0.18"}) {
    proxy.edit_replies(mysql_that_says_it_is(version));
    expect_refused({database.url_through(proxy)}, "MariaDB 10.6 or MySQL 8.0.19");
  }
  EXPECT_EQ(database.value("select count(*) from shared_lock"), "0");
}

TEST(CliOldServerTest, IsRejectedOnPostgres) {
  const postgres_schema schema;
  pqxx::connection known{postgres_url()};
  tcp_proxy proxy{known.hostname(), known.port()};
  proxy.edit_replies(postgres_that_says_it_is("12"));
  expect_refused({url_through(proxy), "--table", schema.table().text()}, "PostgreSQL 13");
}

}  // namespace

}  // namespace rowlock::tests
