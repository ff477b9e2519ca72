// rowlock run --wait goes on while the database is away.
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <stdexcept>
#include <string>
#include <thread>

#include "cli/cli_test.hpp"
#include "rowlock/owner_id.hpp"
#include "support/mariadb_line.hpp"
#include "support/own_mariadb.hpp"
#include "support/own_postgres.hpp"
#include "support/patience.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;

words waiting_for_the_key(const std::string& url, const std::string& how_long) {
  return {ROWLOCK_COMMAND, "run",    url,  "--type", "invoice", "--source", "42",
          "--wait",        how_long, "--", "echo",   "ran"};
}

/// Somebody else's lease on the key that the command waits for.
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

void await(const std::function<bool()>& condition) {
  for (const auto until = std::chrono::steady_clock::now() + patience; !condition();) {
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error{"it did not come"};
    std::this_thread::sleep_for(10ms);
  }
}

/// The server ends under the command's connection, and is there again a moment later, three times:
/// whatever the command was about to do then.
template <class Server>
void expect_to_be_outlasted(const Server& server, const std::function<bool()>& has_a_guest) {
  ASSERT_EQ(run_rowlock({"migrate", server.url()}).code, 0);
  const held_key held{server.url()};
  child_process waiting{waiting_for_the_key(server.url(), "60s")};
  for (int i = 0; i < 3; ++i) {
    await([&] { return has_a_guest() || waiting.has_ended(); });
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
    pqxx::nontransaction asking{connection};
    return asking
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
