// rowlock serve on every database: what is read, and what happens while the database is away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <pqxx/pqxx>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/http_client.hpp"
#include "rowlock/lock_table.hpp"
#include "support/mariadb_line.hpp"
#include "support/mysql_database.hpp"
#include "support/postgres_schema.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class CliServeTest : public CliTest {
 protected:
  [[nodiscard]] words where() const { return {database_->url(), "--table", database_->table()}; }
};

class CliServedLocksTest : public LockedCliTest {
 protected:
  [[nodiscard]] words where() const { return {database_->url(), "--table", database_->table()}; }
};

json body_of(const http_reply& reply) { return json::parse(reply.body); }

std::set<std::string> fields_of(const json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

TEST_P(CliServedLocksTest, AHeldLockHasTheFieldsOfTheContract) {
  const auto rows = open();
  lock_table locks{*rows, {.holder = "worker-a"}};
  const auto held = locks.try_acquire({"invoice", "42"}, {.note = "step 1"});
  ASSERT_TRUE(held.acquired());
  const served server{where()};

  const auto reply = server.get("/api/locks");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("content-type"), "application/json");
  EXPECT_EQ(reply.headers.at("cache-control"), "no-store");
  const auto answer = body_of(reply);
  EXPECT_EQ(fields_of(answer), (std::set<std::string>{"at", "truncated", "locks"}));
  EXPECT_THAT(answer.at("at").get<std::string>(), MatchesRegex("20..-..-..T..:..:..\\.[0-9]{6}Z"));
  EXPECT_EQ(answer.at("truncated"), false);
  ASSERT_EQ(answer.at("locks").size(), 1U);
  const auto& lock = answer.at("locks").front();
  EXPECT_EQ(fields_of(lock),
            (std::set<std::string>{"type", "source", "state", "holder", "since", "held_ms",
                                   "ttl_ms", "sign_of_life_ms", "remaining_ms", "version", "note",
                                   "waiting", "asked", "correlation_id", "failures", "expiries",
                                   "force_reason", "last", "forced"}));
  EXPECT_EQ(lock.at("source"), "42");
  EXPECT_EQ(lock.at("state"), "held");
  EXPECT_EQ(lock.at("holder"), "worker-a");
  EXPECT_EQ(lock.at("note"), "step 1");
  EXPECT_EQ(lock.at("waiting"), false);
  EXPECT_EQ(lock.at("version"), held->token().number);
  EXPECT_EQ(lock.at("correlation_id"), nullptr);
  EXPECT_EQ(lock.at("last"), nullptr);
  EXPECT_GE(lock.at("held_ms"), 0);
}

TEST_P(CliServedLocksTest, AKeyThatStaysClosedShowsHowItsLastHoldEnded) {
  const auto rows = open();
  lock_table locks{*rows, {.holder = "worker-a"}};
  ASSERT_TRUE(locks.with_lock({"invoice", "42"}, [] {}, {.hold_at_least = 1h}).kept());
  const served server{where()};
  const auto lock = body_of(server.get("/api/locks")).at("locks").front();
  EXPECT_EQ(lock.at("state"), "closed");
  EXPECT_EQ(lock.at("since"), nullptr);
  EXPECT_EQ(fields_of(lock.at("last")), (std::set<std::string>{"holder", "from", "until", "how"}));
}

/// For a target of a request.
std::string percent_encoded(const std::string& text) {
  std::ostringstream encoded;
  for (const char c : text) {
    encoded << '%' << std::hex << std::setw(2) << std::setfill('0') << int{c};
  }
  return encoded.str();
}

TEST_P(CliServedLocksTest, TheHistoryIsReadInPagesAndByItsParts) {
  ASSERT_EQ(run(rowlock("migrate", {"--with", "history"})).code, 0);
  const auto rows = open();
  lock_table locks{*rows, {.holder = "worker-a"}};
  for (const auto* const source : {"\u00e4", "<b>", "3"}) {
    locks.try_acquire({"invoice", source})->release();
  }
  const auto held = locks.try_acquire({"job", "nightly"});
  const served server{where()};

  const auto whole = body_of(server.get("/api/history"));
  EXPECT_EQ(whole.at("has_history"), true);
  EXPECT_EQ(whole.at("next"), nullptr);
  ASSERT_EQ(whole.at("events").size(), 7U);
  EXPECT_EQ(fields_of(whole.at("events").front()),
            (std::set<std::string>{"at", "type", "source", "what", "version", "token", "holder",
                                   "since", "until", "held_ms", "reason", "correlation_id"}));
  EXPECT_EQ(whole.at("events").front().at("version"), held->token().number);

  auto in_pages = json::array();
  std::string before;
  while (in_pages.size() < whole.at("events").size()) {
    const auto page = body_of(server.get("/api/history?limit=3&before=" + percent_encoded(before)));
    for (const auto& event : page.at("events")) in_pages.push_back(event);
    if (page.at("next").is_null()) break;
    ASSERT_EQ(page.at("events").size(), 3U);
    before = page.at("next");
  }
  EXPECT_EQ(in_pages, whole.at("events"));

  const auto count = [&](const std::string& query) {
    return body_of(server.get("/api/history?" + query)).at("events").size();
  };
  EXPECT_EQ(count("type=job"), 1U);
  EXPECT_EQ(count("type=invoice&source=%3Cb%3E"), 2U);
  EXPECT_EQ(count("what=released"), 3U);
  EXPECT_EQ(count("holder=worker-b"), 0U);
  EXPECT_EQ(count("until=2026-01-31T12:00:00Z"), 0U);
  EXPECT_EQ(count("since=2026-01-31T12:00:00Z"), 7U);
}

TEST_P(CliServedLocksTest, HostileTextIsHarmlessJson) {
  // With characters that turn the direction of writing and that end a line in scripts.
  const std::string markup =
      "</script><script>alert('x')</script>\"\\\n\x1b[31m\xe2\x80\xae\xe2\x80\xa8";
  std::string right_to_left;
  while (right_to_left.size() < 128) right_to_left += "\u05d0";
  const auto rows = open();
  lock_table locks{*rows, {.holder = right_to_left}};
  const auto held = locks.try_acquire({"invoice", markup}, {.note = markup});
  ASSERT_TRUE(held.acquired());
  const served server{where()};

  const auto reply = server.get("/api/locks");
  EXPECT_TRUE(std::all_of(reply.body.begin(), reply.body.end(), [](char byte) {
    return byte >= ' ' && byte <= '~';
  })) << reply.body;
  EXPECT_EQ(reply.headers.at("x-content-type-options"), "nosniff");
  const auto lock = body_of(reply).at("locks").front();
  EXPECT_EQ(lock.at("source"), markup);
  EXPECT_EQ(lock.at("note"), markup);
  EXPECT_EQ(lock.at("holder"), right_to_left);
}

TEST_P(CliServedLocksTest, FiltersAndALimitChooseLocks) {
  const auto rows = open();
  lock_table first{*rows, {.holder = "worker a+b&\u00e9"}};
  lock_table second{*rows, {.holder = "worker-b"}};
  const auto one = first.try_acquire({"invoice", "1"});
  const auto two = second.try_acquire({"invoice", "2"});
  const auto three = second.try_acquire({"job", "3"});
  const served server{where()};
  const auto sources = [&server](const std::string& query) {
    std::string found;
    const auto answer = body_of(server.get("/api/locks?" + query));
    for (const auto& lock : answer.at("locks")) found += lock.at("source").get<std::string>();
    return found + (answer.at("truncated").get<bool>() ? "..." : "");
  };
  EXPECT_EQ(sources(""), "123");
  EXPECT_EQ(sources("type=&holder=&limit="), "123");
  EXPECT_EQ(sources("type=invoice"), "12");
  EXPECT_EQ(sources("holder=worker-b&type=invoice"), "2");
  EXPECT_EQ(sources("holder=worker%20a%2Bb%26%C3%A9"), "1");
  EXPECT_EQ(sources("limit=2"), "12...");
  EXPECT_EQ(sources("limit=3"), "123");
  EXPECT_EQ(sources("type=none"), "");
  EXPECT_EQ(sources("type=job&limit=1"), "3");
}

TEST_P(CliServedLocksTest, MetricsCountTheLocks) {
  const auto rows = open();
  lock_table locks{*rows};
  const auto held = locks.try_acquire({"invoice", "1"});
  const served server{where()};
  const auto reply = server.get("/metrics");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(reply.body, HasSubstr("rowlock_up 1\n"));
  EXPECT_THAT(reply.body, HasSubstr("rowlock_keys{type=\"invoice\",state=\"held\"} 1\n"));
}

TEST_P(CliServeTest, ATableThatIsMissingIsSaidUntilItIsThere) {
  database_->execute("create table other (number integer); drop table other");  // makes the file
  served server{where()};
  for (const auto* const path : {"/api/locks", "/healthz"}) {
    const auto reply = server.get(path);
    EXPECT_EQ(reply.status, 503);
    EXPECT_THAT(body_of(reply).at("error").get<std::string>(), HasSubstr("rowlock migrate"));
  }
  EXPECT_THAT(server.get("/metrics").body,
              AllOf(HasSubstr("rowlock_up 0\n"), Not(HasSubstr("rowlock_keys"))));
  ASSERT_EQ(migrate().code, 0);
  EXPECT_EQ(body_of(server.await(200, "/api/locks")).at("locks"), json::array());
  EXPECT_EQ(body_of(server.await(200, "/healthz")), json({{"ok", true}}));
}

ROWLOCK_ON_EVERY_DATABASE(CliServedLocksTest);
ROWLOCK_ON_EVERY_DATABASE(CliServeTest);

/// On the servers, by way of a network that can be broken.
class CliServeAwayTest : public LockedCliTest {
 protected:
  [[nodiscard]] words where() const {
    const auto url =
        is_mariadb() ? mariadb_url_through(way_.port(), database_->url()) : url_through(way_);
    return {url, "--table", database_->table()};
  }

  tcp_proxy way_{host(), port()};

 private:
  [[nodiscard]] bool is_mariadb() const { return database_->url().starts_with("mysql"); }
  [[nodiscard]] std::string host() const { return is_mariadb() ? "127.0.0.1" : address_of().host; }
  [[nodiscard]] std::string port() const {
    return is_mariadb() ? std::to_string(database_->number("select @@port")) : address_of().port;
  }
};

TEST_P(CliServeAwayTest, ADatabaseThatGoesAwayIsSaidAndItComesBack) {
  const auto rows = open();
  lock_table locks{*rows};
  const auto held = locks.try_acquire({"invoice", "42"});
  served server{where()};
  ASSERT_EQ(server.get("/api/locks").status, 200);

  way_.black_hole();
  const auto fault = server.await(503, "/api/locks");
  EXPECT_NE(body_of(fault).at("error"), "");
  EXPECT_EQ(server.get("/healthz").status, 503);
  EXPECT_THAT(server.get("/metrics").body,
              AllOf(HasSubstr("rowlock_up 0\n"), Not(HasSubstr("rowlock_keys"))));

  way_.pass();
  EXPECT_EQ(body_of(server.await(200, "/api/locks")).at("locks").front().at("source"), "42");
  EXPECT_EQ(server.get("/healthz").status, 200);
}

TEST_P(CliServeAwayTest, WhatNeedsNoDatabaseIsAnsweredWhileItHangs) {
  served server{where()};
  ASSERT_EQ(server.get("/api/locks").status, 200);
  way_.black_hole();
  ASSERT_EQ(server.await(503, "/healthz").status, 503);
  // By now a read hangs, and as many requests as a browser makes at once have come for its answer.
  std::vector<http_connection> asking;
  for (int i = 0; i < 50; ++i) {
    asking.emplace_back(server.port());
    asking.back().send("GET /api/locks HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  EXPECT_EQ(server.get("/").status, 200);
  EXPECT_EQ(server.get("/page.css").status, 200);
}

TEST_P(CliServeAwayTest, ASignalEndsItWhileTheDatabaseHangs) {
  served server{where()};
  ASSERT_EQ(server.get("/api/locks").status, 200);
  way_.black_hole();
  ASSERT_EQ(server.await(503, "/healthz").status, 503);
  server.process().send_signal(SIGTERM);
  EXPECT_EQ(server.process().wait(), 128 + SIGTERM);
}

INSTANTIATE_TEST_SUITE_P(On, CliServeAwayTest,
                         testing::Values(cli_database_kind{"Postgres", make_postgres_database},
                                         cli_database_kind{"Mariadb", make_mariadb_database}),
                         [](const auto& kind) { return std::string{kind.param.name}; });

TEST(CliServeSecretsTest, AnAnswerHasNoPassword) {
  for (const auto* const url :
       {"postgresql://app:sesame@127.0.0.1:1/shop", "mysql://app:sesame@127.0.0.1:1/shop",
        "host=127.0.0.1 port=1 user=app password=sesame dbname=shop"}) {
    served server{words{url}};
    for (const auto* const path : {"/api/locks", "/api/history", "/healthz", "/metrics"}) {
      EXPECT_THAT(server.get(path).body, Not(HasSubstr("sesame")));
    }
    server.process().send_signal(SIGTERM);
    server.process().wait();
    EXPECT_THAT(
        server.process().errors(),
        AllOf(HasSubstr("rowlock: the database could not be read"), Not(HasSubstr("sesame"))));
  }
}

TEST(CliServeReaderTest, ARoleThatMaySelectFromTheTablesIsEnoughOnPostgres) {
  const auto database = make_postgres_database();
  const auto table = database->table();
  ASSERT_EQ(run_rowlock({"migrate", database->url(), "--table", table, "--with", "history"}).code,
            0);
  const std::string schema = table.substr(0, table.find('.'));
  const std::string role = "reader_" + schema;
  postgres_schema::execute("create role " + role +
                           " login password 'sesame'; grant usage on schema " + schema + " to " +
                           role + "; grant select on " + table + ", " + table + "_schema, " +
                           table + "_event to " + role);
  {
    const auto [host, port] = address_of();
    const served server{{"host=" + host + " port=" + port +
                             " dbname=" + pqxx::connection{postgres_url()}.dbname() +
                             " user=" + role + " password=sesame",
                         "--table", table}};
    const auto reply = server.get("/api/locks");
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_EQ(body_of(server.get("/api/history")).at("has_history"), true);
    postgres_schema::execute("revoke select on " + table + "_event from " + role);
    EXPECT_THAT(server.await(503, "/api/history").body, HasSubstr("shared_lock_event"));
  }
  postgres_schema::execute("drop owned by " + role + "; drop role " + role);
}

TEST(CliServeReaderTest, AUserThatMaySelectFromTheTablesIsEnoughOnMariadb) {
  const mysql_database database;
  ASSERT_EQ(run_rowlock({"migrate", database.url(), "--with", "history"}).code, 0);
  const std::string user = "'" + database.name().substr(0, 24) + "_r'@'%'";
  database.execute("create user " + user +
                   " identified by 'sesame'; grant select on shared_lock to " + user +
                   "; grant select on shared_lock_schema to " + user);
  const std::string url = database.url();
  const auto host = url.find('@') + 1;
  {
    const served server{
        {"mysql://" + database.name().substr(0, 24) + "_r:sesame@" + url.substr(host)}};
    const auto reply = server.get("/api/locks");
    EXPECT_EQ(reply.status, 200) << reply.body;
    EXPECT_THAT(server.await(503, "/api/history").body, HasSubstr("shared_lock_event"));
    database.execute("grant select on shared_lock_event to " + user);
    EXPECT_EQ(body_of(server.await(200, "/api/history")).at("has_history"), true);
  }
  database.execute("drop user " + user);
}

}  // namespace

}  // namespace rowlock::tests
