// rowlock run --wait and lead go on while the database is away, and say so.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <thread>

#include "cli/cli_test.hpp"
#include "rowlock/port/requests.hpp"
#include "support/fake_postgres.hpp"
#include "support/mariadb_line.hpp"
#include "support/own_mariadb.hpp"
#include "support/own_postgres.hpp"
#include "support/patience.hpp"
#include "support/postgres_schema.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

words waiting_for_the_key(const std::string& url, const std::string& how_long) {
  return {ROWLOCK_COMMAND, "run",    url,  "--type", "invoice", "--source", "42",
          "--wait",        how_long, "--", "echo",   "ran"};
}

/// Another process's lease on the key that the command waits for.
class held_key {
 public:
  explicit held_key(std::string url) : url_{std::move(url)} {
    const acquire_request request{.key = key_, .owner = owner_, .holder = "them", .ttl = 1h};
    granted_ = *rows()->acquire(std::array{request}).front().version;
  }
  /// On a connection that has seen nothing.
  void release() const {
    rows()->release(std::array{release_request{.key = key_, .owner = owner_, .version = granted_}});
  }

 private:
  [[nodiscard]] std::unique_ptr<store> rows() const {
    return open_store(database_url{url_}, table_name{});
  }

  const std::string url_;
  const lock_key key_{"invoice", "42"};
  const owner_id owner_ = make_owner_id();
  version granted_;
};

/// The server ends under the command's connection, and is there again a moment later, three times:
/// whatever the command was about to do then.
template <class Server>
void expect_to_be_outlasted(const Server& server, const std::function<bool()>& has_a_guest) {
  ASSERT_EQ(run_rowlock({"migrate", server.url()}).code, 0);
  const held_key held{server.url()};
  child_process waiting{waiting_for_the_key(server.url(), "60s")};
  for (int i = 0; i < 3; ++i) {
    await_that([&] { return has_a_guest() || waiting.has_ended(); });
    ASSERT_FALSE(waiting.has_ended()) << waiting.errors();
    server.crash();
  }
  held.release();
  const auto ran = result_of(waiting);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.output, "ran\n");
}

TEST(CliRunOutageTest, ARestartOfPostgresIsOutlasted) {
  const own_postgres server;
  expect_to_be_outlasted(server, [&] {
    pqxx::connection connection{server.url()};
    pqxx::nontransaction reader{connection};
    return reader
        .exec(
            "select count(*) > 0 from pg_stat_activity where backend_type = 'client backend' "
            "and pid <> pg_backend_pid()")[0][0]
        .as<bool>();
  });
}

TEST(CliRunOutageTest, ARestartOfMariadbIsOutlasted) {
  const own_mariadb server;
  expect_to_be_outlasted(server, [&] {
    return mariadb_line{server.url()}.number(
               "select count(*) from information_schema.processlist "
               "where user = 'root' and id <> connection_id()") > 0;
  });
}

TEST(CliRunOutageTest, AnOutageThatLastsIs69AtTheEndOfTheWait) {
  const auto failed = run(waiting_for_the_key("postgresql://app:sesame@127.0.0.1:1/shop", "300ms"));
  EXPECT_EQ(failed.code, 69);
  EXPECT_EQ(failed.output, "");
  EXPECT_NE(failed.errors, "");
}

class CliOutlastedTest : public testing::TestWithParam<words> {};

TEST_P(CliOutlastedTest, IsTriedAgainAndSaidOnce) {
  std::atomic<int> logins{0};
  const fake_postgres starting{[&](const login&) {
    ++logins;
    return fake_postgres::reason{"57P03", "the database system is starting up"};
  }};
  const auto url = "postgresql://app:sesame@127.0.0.1:" + std::to_string(starting.port()) + "/shop";
  child_process trying{words{ROWLOCK_COMMAND} + GetParam() +
                       words{url, "--type", "invoice", "--source", "42", "--", "true"}};
  errors_with("trying again", trying);  // after a signal that would no longer be so
  const int before = logins;
  await_that([&] { return logins >= before + 3; });
  trying.send_signal(SIGTERM);
  EXPECT_EQ(trying.wait(), 128 + SIGTERM);
  const auto said = trying.errors();
  EXPECT_NE(said.find("trying again"), std::string::npos) << said;
  EXPECT_EQ(said.find("trying again"), said.rfind("trying again")) << said;
  EXPECT_EQ(said.find("sesame"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(By, CliOutlastedTest,
                         testing::Values(words{"run", "--wait", "forever"}, words{"lead"}),
                         [](const auto& command) { return command.param.front(); });

void expect_one_line_of(const fake_postgres::reason& refusal, const std::string& how_long) {
  const fake_postgres refusing{[&](const login&) { return refusal; }};
  const auto url = "postgresql://app:sesame@127.0.0.1:" + std::to_string(refusing.port()) + "/shop";
  const auto failed = run(waiting_for_the_key(url, how_long));
  EXPECT_EQ(failed.code, 69);
  EXPECT_THAT(failed.errors, MatchesRegex("rowlock: [^\n]+\n"));
  EXPECT_THAT(failed.errors, Not(HasSubstr("trying again")));
}

TEST(CliRunOutageTest, OfAFaultThatIsNotOutlastedOneLineIsSaid) {
  expect_one_line_of({"57P03", "the database system is starting up"}, "0s");
  expect_one_line_of({"28P01", "password authentication failed for user \"app\""}, "1h");
}

TEST(CliRunOutageTest, OfARefusedLoginIsOverWhenTheFileHasTheNewUrl) {
  const postgres_schema schema;
  const words table{"--table", schema.table().text()};
  ASSERT_EQ(run_rowlock(words{"migrate", postgres_url()} + table).code, 0);
  std::promise<void> refused;
  std::atomic<int> logins{0};
  const fake_postgres refusing{[&](const login&) {
    if (++logins == 3) refused.set_value();
    return fake_postgres::reason{"28P01", "password authentication failed for user \"app\""};
  }};
  const temp_folder folder;
  const auto file = (folder.path() / "url").string();
  const auto write = [&](const std::string& url) {
    std::ofstream{file + ".new"} << url;
    std::filesystem::permissions(file + ".new", std::filesystem::perms::owner_read);
    std::filesystem::rename(file + ".new", file);
  };
  write("postgresql://app:sesame@127.0.0.1:" + std::to_string(refusing.port()) + "/shop");
  child_process waiting{
      words{ROWLOCK_COMMAND, "run", "--url-file", file} + table +
      words{"--type", "invoice", "--source", "42", "--wait", "forever", "--", "echo", "ran"}};
  ASSERT_EQ(refused.get_future().wait_for(patience), std::future_status::ready);
  write(postgres_url());
  const auto ran = result_of(waiting);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.output, "ran\n");
}

// A pipe cannot be read again.
TEST(CliRunOutageTest, OfARefusedLoginIsTheEndWhereTheUrlCannotBeReadAgain) {
  const fake_postgres refusing{[](const login&) {
    return fake_postgres::reason{"28P01", "password authentication failed for user \"app\""};
  }};
  const auto url = "postgresql://app:sesame@127.0.0.1:" + std::to_string(refusing.port()) + "/shop";
  for (const std::string command : {"lead", "run --wait forever"}) {
    child_process refused{
        {"bash", "-c",
         "\"$0\" " + command + " --url-file <(echo \"$1\") --type invoice --source 42 -- true",
         ROWLOCK_COMMAND, url}};
    const auto ended = result_of(refused);
    EXPECT_EQ(ended.code, 69) << ended.errors;
    EXPECT_THAT(ended.errors, HasSubstr("refuses the login"));
  }
}

class CliUnrenewedTest : public testing::TestWithParam<const char*> {};

TEST_P(CliUnrenewedTest, EachOutageIsSaidAndTheKeyIsKept) {
  const postgres_schema schema;
  const words table{"--table", schema.table().text()};
  ASSERT_EQ(run_rowlock(words{"migrate", postgres_url()} + table).code, 0);
  child_process running{words{ROWLOCK_COMMAND, GetParam(), postgres_url()} + table +
                        words{"--type", "invoice", "--source", "42", "--ttl", "15s", "--", "sh",
                              "-c", "echo started; read line; exit 3"}};
  ASSERT_EQ(running.read_line(), "started");
  pqxx::connection known{postgres_url()};
  pqxx::nontransaction server{known};
  const auto name = schema.table().text();
  const auto lease_ends = [&] {
    return server.exec("select expires_at::text from " + name)[0][0].as<std::string>();
  };
  server.exec("create function " + name + "_refuse() returns trigger language plpgsql as " +
              "$$ begin raise exception 'no renewal now'; end $$");
  const bool leads = GetParam() == std::string{"lead"};
  for (std::ptrdiff_t outages = 1; outages <= 2; ++outages) {
    server.exec("create trigger refuse before update on " + name +
                " for each row execute function " + name + "_refuse()");
    await_that([&] {
      const auto said = running.errors();  // `leads` is one line more
      return std::count(said.begin(), said.end(), '\n') >= outages + (leads ? 1 : 0);
    });
    const auto before = lease_ends();
    server.exec("drop trigger refuse on " + name);
    await_that([&] { return lease_ends() != before; });
  }
  running.write_line("end");
  EXPECT_EQ(running.wait(), 3);
  EXPECT_THAT(running.errors(), MatchesRegex("(rowlock: leads [^\n]+\n)?"
                                             "rowlock: [^\n]+; trying again\n"
                                             "rowlock: [^\n]+; trying again\n"));
}

INSTANTIATE_TEST_SUITE_P(Of, CliUnrenewedTest, testing::Values("run", "lead"),
                         [](const auto& command) { return std::string{command.param}; });

class CliRunOutageFileTest : public testing::TestWithParam<const char*> {};

TEST_P(CliRunOutageFileTest, ALockedFileIsOutlasted) {
  const temp_folder folder;
  const auto path = (folder.path() / "locks.db").string();
  const auto url = "sqlite://" + path;
  ASSERT_EQ(run_rowlock({"migrate", url}).code, 0);
  SQLite::Database locking{path, SQLite::OPEN_READWRITE};
  locking.exec(std::string{"pragma journal_mode = "} + GetParam());
  const held_key held{url};
  child_process waiting{waiting_for_the_key(url, "60s")};
  // A writer that comes later gives up first: so the one that waits has met the lock.
  const auto other = words{"run", url, "--type", "invoice", "--source", "43", "--", "true"};
  EXPECT_EQ(run_rowlock(other).code, 0);
  locking.exec("begin exclusive");
  for (int i = 0; i < 2; ++i) EXPECT_NE(run_rowlock(other).code, 0);
  EXPECT_FALSE(waiting.has_ended()) << waiting.errors();
  locking.exec("commit");
  held.release();
  const auto ran = result_of(waiting);
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.output, "ran\n");
}

INSTANTIATE_TEST_SUITE_P(Journals, CliRunOutageFileTest, testing::Values("wal", "delete"),
                         [](const auto& mode) { return std::string{mode.param}; });

}  // namespace

}  // namespace rowlock::tests
