// rowlock doctor: versions, settings, clocks and roles of servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <pqxx/pqxx>
#include <set>
#include <string>

#include "cli/cli_test.hpp"
#include "cli/diagnosis.hpp"
#include "support/mariadb_line.hpp"
#include "support/mysql_database.hpp"
#include "support/old_server.hpp"
#include "support/postgres_schema.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A server's answer with other versions.
std::function<std::string(std::string)> replacing(const std::string& text,
                                                  const std::string& instead) {
  return [=](std::string said) {
    if (const auto at = said.find(text); at != std::string::npos) {
      said.replace(at, text.size(), instead);
    }
    return said;
  };
}

TEST(CliDoctorServerTest, ThatTheTestsDidNotRunOnIsAWarning) {
  const mysql_database database;
  ASSERT_EQ(run_rowlock({"migrate", database.url()}).code, 0);
  const auto where = mariadb_address_of(database.url());
  tcp_proxy network{where.host, std::to_string(where.port)};
  for (const auto* version : {"10.6.1-MariaDB", "12.0.1-MariaDB"}) {
    network.edit_replies(mysql_that_says_it_is(version));
    const diagnosis found{{database.url_through(network)}};
    EXPECT_EQ(found.status("server"), "warning") << found.text();
    EXPECT_EQ(found.code(), 75);
    EXPECT_THAT(found["server"].at("detail"), HasSubstr("the tests of rowlock ran on"));
  }
}

TEST(CliDoctorServerTest, OfPostgresqlThatTheTestsDidNotRunOnIsAWarning) {
  const postgres_schema schema;
  const words table{"--table", schema.table().text()};
  ASSERT_EQ(run_rowlock(words{"migrate", postgres_url()} + table).code, 0);
  pqxx::connection known{postgres_url()};
  tcp_proxy network{known.hostname(), known.port()};
  const auto version = std::to_string(known.server_version());
  for (const auto* another : {"130004", "190001"}) {
    network.edit_replies(replacing(version, another));
    const diagnosis found{words{url_through(network)} + table};
    EXPECT_EQ(found.status("server"), "warning") << found.text();
    EXPECT_EQ(found.code(), 75);
  }
}

/// Options for each session of a URL.
std::string url_with(const std::string& options) {
  const auto url = postgres_url();
  return url + (url.find('?') == std::string::npos ? "?" : "&") + "options=" + options;
}

class CliDoctorPostgresTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_rowlock(words{"migrate"} + where()).code, 0); }

  [[nodiscard]] words where(const std::string& url = postgres_url()) const {
    return {url, "--table", schema_.table().text()};
  }

  const postgres_schema schema_;
};

TEST_F(CliDoctorPostgresTest, ASettingThatWeakensAPromiseIsAWarning) {
  const diagnosis found{where(url_with("-csynchronous_commit%3Doff"))};
  EXPECT_EQ(found.code(), 75);
  EXPECT_FALSE(found.is_ok());
  EXPECT_EQ(found.status("settings"), "warning");
  EXPECT_THAT(found.advice("settings"), HasSubstr("set synchronous_commit = on"));
  EXPECT_EQ(found.names_with("ok"), everything_but_settings);
}

TEST_F(CliDoctorPostgresTest, AClockThatDiffersIsAWarningAndChangesNoLock) {
  postgres_schema::execute("create function " + schema_.name() +
                           ".clock_timestamp() returns timestamptz language sql as "
                           "$$ select pg_catalog.clock_timestamp() - interval '1 hour' $$");
  const diagnosis found{where(url_with("-csearch_path%3D" + schema_.name() + "%2Cpg_catalog"))};
  EXPECT_EQ(found.code(), 75);
  EXPECT_EQ(found.names_with("warning"), std::set<std::string>{"clock"});
  EXPECT_LT(found["clock"].at("difference_ms"), 0);
  EXPECT_EQ(found.status("lease"), "ok");
}

TEST_F(CliDoctorPostgresTest, ASessionThatIsReadOnlyFailsAtTheLease) {
  const diagnosis found{where(url_with("-cdefault_transaction_read_only%3Don"))};
  EXPECT_EQ(found.code(), 69);
  EXPECT_EQ(found.names_with("failed"), std::set<std::string>{"lease"});
}

class CliDoctorPostgresRoleTest : public CliDoctorPostgresTest {
 protected:
  ~CliDoctorPostgresRoleTest() override {
    postgres_schema::execute("drop owned by " + role_ + "; drop role " + role_);
  }
  void SetUp() override {
    CliDoctorPostgresTest::SetUp();
    postgres_schema::execute("create role " + role_ + " login password 'sesame'; grant usage on " +
                             "schema " + schema_.name() + " to " + role_);
  }

  void grant(const std::string& rights) const {
    postgres_schema::execute(schema_.table().in("grant " + rights + " to " + role_));
  }
  [[nodiscard]] words where_of_role() const {
    const auto url = postgres_url();
    return where(url + (url.find('?') == std::string::npos ? "?" : "&") + "user=" + role_ +
                 "&password=sesame");
  }
  [[nodiscard]] diagnosis diagnose() const { return diagnosis{where_of_role()}; }

  const std::string role_ = schema_.name() + "_role";
};

TEST_F(CliDoctorPostgresRoleTest, ThatOnlyReadsFailsAndIsToldWhatItLacks) {
  grant("select on shared_lock");
  grant("select on shared_lock_schema");
  const auto found = diagnose();
  EXPECT_EQ(found.code(), 69);
  EXPECT_EQ(found.names_with("failed"),
            (std::set<std::string>{"fence_privileges", "lease", "lock_privileges"}));
  EXPECT_THAT(found["lock_privileges"].at("detail"),
              AllOf(HasSubstr("INSERT on"), HasSubstr("UPDATE on")));
  EXPECT_EQ(found.status("list_privileges"), "ok");
  EXPECT_EQ(found["purge_privileges"].at("missing").size(), 2U);
  EXPECT_THAT(found["lock_privileges"].at("advice"), HasSubstr("grant it, or connect as"));
  EXPECT_THAT(found.text(), Not(HasSubstr("sesame")));
}

TEST_F(CliDoctorPostgresRoleTest, ThatLocksNeedNotPurge) {
  grant("select, insert, update on shared_lock");
  grant("select on shared_lock_schema");
  const auto found = diagnose();
  EXPECT_EQ(found.names_with("ok"), everything_but_settings) << found.text();
}

TEST_F(CliDoctorPostgresRoleTest, ThatLacksAPolicyFailsAndIsToldWhichAndNotToGrant) {
  grant("select, insert, update on shared_lock");
  grant("select on shared_lock_schema");
  postgres_schema::execute(
      schema_.table().in("alter table shared_lock enable row level security; "
                         "create policy seen on shared_lock for select using (true)"));
  const auto found = diagnose();
  EXPECT_EQ(found.code(), 69);
  EXPECT_THAT(found["lock_privileges"].at("detail"),
              HasSubstr("a row-level security policy for UPDATE on"));
  EXPECT_THAT(found["schema"].at("advice"), HasSubstr("CREATE POLICY"));
  EXPECT_THAT(found["lock_privileges"].at("advice"), HasSubstr("CREATE POLICY"));
  EXPECT_THAT(found.text(), Not(HasSubstr("GRANT")));

  const auto run = run_rowlock(words{"run"} + where_of_role() +
                               words{"--type", "job", "--source", "n", "--", "true"});
  EXPECT_EQ(run.code, 69);
  EXPECT_THAT(run.errors, HasSubstr("row-level security"));
}

TEST_F(CliDoctorPostgresRoleTest, WhoseEventsAreLeftOutIsWarned) {
  ASSERT_EQ(run_rowlock(words{"migrate"} + where() + words{"--with", "history"}).code, 0);
  grant("select, insert, update on shared_lock");
  grant("select on shared_lock_schema");
  const auto found = diagnose();
  EXPECT_EQ(found.code(), 75);
  EXPECT_EQ(found.names_with("warning"), std::set<std::string>{"history_privileges"});
  EXPECT_TRUE(found["history"].at("recorded").is_null());
}

TEST_F(CliDoctorPostgresRoleTest, WithoutAnyRightFailsAtTheSchema) {
  const auto found = diagnose();
  EXPECT_EQ(found.code(), 69);
  EXPECT_EQ(found.status("schema"), "failed");
  EXPECT_EQ(found.status("lock_privileges"), "failed");
  EXPECT_EQ(found.status("list_privileges"), "failed");
}

TEST(CliDoctorMariadbTest, AUserThatOnlyReadsFailsAndIsToldWhatItLacks) {
  const mysql_database database;
  ASSERT_EQ(run_rowlock({"migrate", database.url()}).code, 0);
  mariadb_line line{mariadb_url()};
  const auto user = "u_" + make_owner_id().text.substr(0, 20);
  const auto where = mariadb_address_of(database.url());
  const auto url = [&](const std::string& password) {
    return "mysql://" + user + ":" + password + "@" + where.host + ":" +
           std::to_string(where.port) + "/" + where.database;
  };
  for (const std::string host : {"@'%'", "@'localhost'"}) {
    line.execute("create user " + user + host + " identified by 'sesame'");
    for (const std::string table : {"shared_lock", "shared_lock_schema"}) {
      line.execute("grant select on " + database.name() + "." + table + " to " + user + host);
    }
  }
  const diagnosis reader{{url("sesame")}};
  EXPECT_EQ(reader.code(), 69);
  EXPECT_EQ(reader.names_with("failed"),
            (std::set<std::string>{"fence_privileges", "lease", "lock_privileges"}));
  EXPECT_THAT(reader["lock_privileges"].at("detail"),
              AllOf(HasSubstr("INSERT on"), HasSubstr("UPDATE on")));

  const diagnosis stranger{{url("another-word")}};
  EXPECT_EQ(stranger.names_with("failed"), std::set<std::string>{"connection"});
  EXPECT_THAT(stranger.text(), AllOf(HasSubstr("password"), Not(HasSubstr("another-word"))));
  for (const std::string host : {"@'%'", "@'localhost'"}) line.execute("drop user " + user + host);
}

}  // namespace

}  // namespace rowlock::tests
