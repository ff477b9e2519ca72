// A database that hangs: a signal, a loss, and a wait that has a limit, end the command all the
// same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <pqxx/pqxx>
#include <string>

#include "cli/cli_test.hpp"
#include "support/mariadb_line.hpp"
#include "support/postgres_schema.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class CliHangTest : public LockedCliTest {
 protected:
  /// `rowlock SUBCOMMAND` of a shell script, by way of the network.
  [[nodiscard]] words through_network(const std::string& subcommand, const std::string& script,
                                      const words& options = {}) const {
    return words{ROWLOCK_COMMAND, subcommand, url(),      "--table", database_->table(),
                 "--type",        "invoice",  "--source", "42"} +
           options + words{"--", "sh", "-c", script};
  }
  static words wait(const std::string& duration) { return {"--wait", duration}; }

  /// From now on nothing is answered. The call lasts as long as a store waits for an answer.
  [[nodiscard]] std::future<void> hang() {
    proxy_.black_hole();
    return std::async(std::launch::async, [this] {
      try {
        (void)rows_->list();
        ADD_FAILURE() << "the database answered";
      } catch (const std::exception&) {  // as it has to
      }
    });
  }
  /// Returns when `sql` counts so many.
  void await_number(long long least, const std::string& sql) const {
    await_that([&] { return database_->number(sql) >= least; }, {}, [&] { return sql; });
  }
  /// Counts the sessions on the test's database that have executed a statement, except the reader.
  [[nodiscard]] std::string sessions() const {
    return is_mariadb() ? "select count(*) from information_schema.processlist where db = "
                          "database() and command = 'Sleep' and id <> connection_id()"
                        : "select count(*) from pg_stat_activity where query like '%" + schema() +
                              "%' and pid <> pg_backend_pid()";
  }
  /// Starts what makes a session, and returns when it has.
  [[nodiscard]] std::unique_ptr<child_process> start(const words& command) const {
    const auto before = database_->number(sessions());
    auto started = std::make_unique<child_process>(command);
    await_number(before + 1, sessions());
    return started;
  }
  /// Starts a command that waits, and returns when it has been told that `holder` has the key: so
  /// it is no longer in its first try, whose answer is waited for whatever the limit.
  [[nodiscard]] std::unique_ptr<child_process> start_waiting(const words& command,
                                                             const std::string& holder) {
    std::promise<void> refused;
    proxy_.edit_replies([&refused, &holder, is_over = false](std::string said) mutable {
      if (!is_over && said.find(holder) != std::string::npos) {
        is_over = true;
        refused.set_value();
      }
      return said;
    });
    auto started = std::make_unique<child_process>(command);
    const bool was_refused = refused.get_future().wait_for(patience) == std::future_status::ready;
    proxy_.edit_replies([](std::string said) { return said; });
    if (!was_refused) throw std::runtime_error{"never told of " + holder};
    return started;
  }
  /// Returns when a statement waits for the table, which the test has for itself from then on.
  [[nodiscard]] std::shared_ptr<void> keep_a_statement_waiting() const {
    if (is_mariadb()) {
      auto locking = std::make_shared<mariadb_line>(database_->url());
      locking->execute("lock tables shared_lock write");
      await_number(1,
                   "select count(*) from information_schema.processlist where db = database() "
                   "and state like 'Waiting for table%'");
      return locking;
    }
    struct session {
      pqxx::connection connection{postgres_url()};
      pqxx::work work{connection};
    };
    auto locking = std::make_shared<session>();
    locking->work.exec("lock table " + database_->table());
    await_number(1, "select count(*) from pg_locks where not granted and relation = '" +
                        database_->table() + "'::regclass");
    return locking;
  }
  static bool is_over(const std::future<void>& unanswered) {
    return unanswered.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
  }

  void SetUp() override {
    LockedCliTest::SetUp();
    (void)rows_->list();
  }

  tcp_proxy proxy_{host(), port()};
  std::unique_ptr<store> rows_ = open_store(url(), table_name{database_->table()});

 private:
  [[nodiscard]] std::string schema() const {
    return database_->table().substr(0, database_->table().find('.'));
  }
  [[nodiscard]] bool is_mariadb() const { return database_->url().starts_with("mysql"); }
  [[nodiscard]] std::string url() const {
    return is_mariadb() ? mariadb_url_through(proxy_.port(), database_->url())
                        : url_through(proxy_);
  }
  [[nodiscard]] std::string host() const { return is_mariadb() ? "127.0.0.1" : address_of().host; }
  [[nodiscard]] std::string port() const {
    return is_mariadb() ? std::to_string(database_->number("select @@port")) : address_of().port;
  }
};

TEST_P(CliHangTest, ASignalEndsAWaitOfRun) {
  child_process holder{script_under_lock("echo started; read line")};
  ASSERT_EQ(holder.read_line(), "started");
  const auto waiter = start(through_network("run", "echo mine", wait("forever")));
  const auto locking = keep_a_statement_waiting();
  const auto unanswered = hang();
  waiter->send_signal(SIGINT);
  EXPECT_EQ(waiter->wait(), 128 + SIGINT);
  EXPECT_FALSE(is_over(unanswered));
  proxy_.pass();
}

TEST_P(CliHangTest, ALimitEndsAWaitOfRun) {
  child_process holder{script_under_lock("echo started; read line", {"--holder", "the-first"})};
  ASSERT_EQ(holder.read_line(), "started");
  const auto waiter = start_waiting(through_network("run", "echo mine", wait("1s")), "the-first");
  const auto unanswered = hang();
  EXPECT_THAT(waiter->wait(), AnyOf(69, 70, 75));
  EXPECT_FALSE(is_over(unanswered));
  EXPECT_THAT(waiter->errors(), MatchesRegex("rowlock: [^\n]+\n"));
  EXPECT_THAT(waiter->errors(), Not(HasSubstr("trying again")));
  proxy_.pass();
}

TEST_P(CliHangTest, ASignalEndsARunThatConnects) {
  const auto unanswered = hang();
  child_process waiter{through_network("run", "echo mine", wait("forever"))};
  await_readiness_for(SIGTERM, waiter.pid());
  waiter.send_signal(SIGTERM);
  EXPECT_EQ(waiter.wait(), 128 + SIGTERM);
  EXPECT_FALSE(is_over(unanswered));
  proxy_.pass();
}

TEST_P(CliHangTest, ASignalEndsARunWhoseReleaseIsNotAnswered) {
  child_process running{through_network("run", "echo started; exec cat")};
  ASSERT_EQ(running.read_line(), "started");
  const auto unanswered = hang();
  running.send_signal(SIGTERM);
  EXPECT_EQ(running.wait(), 128 + SIGTERM);
  EXPECT_FALSE(is_over(unanswered));
  EXPECT_THAT(running.errors(), HasSubstr("it frees itself within 30s"));
  proxy_.pass();
}

TEST_P(CliHangTest, ASignalThatComesDuringAReleaseEndsRunWithTheCodeOfItsCommand) {
  child_process running{through_network("run", "echo started; read line; echo over; exit 3")};
  ASSERT_EQ(running.read_line(), "started");
  const auto unanswered = hang();
  running.write_line("done");
  ASSERT_EQ(running.read_line(), "over");
  running.send_signal(SIGTERM);
  EXPECT_THAT(running.wait(), AnyOf(3, 128 + SIGTERM));
  EXPECT_FALSE(is_over(unanswered));
  proxy_.pass();
}

TEST_P(CliHangTest, ALossEndsRunSoonAfterItsCommand) {
  // A busy machine may stop it for seconds: then it had not asked.
  child_process running{through_network("run", script_with(R"(trap "echo signalled; exit 3" TERM)"),
                                        {"--ttl", "6s"})};
  ASSERT_EQ(running.read_line(), "started");
  const auto unanswered = hang();
  EXPECT_EQ(running.read_line(), "signalled");
  EXPECT_EQ(running.wait(), 76);
  EXPECT_FALSE(is_over(unanswered));
  const auto said = running.errors();
  EXPECT_THAT(said, HasSubstr("lost before the command ended"));
  EXPECT_THAT(said, HasSubstr("invoice/42 was lost: no renewal was answered in the last"));
  proxy_.pass();
}

TEST_P(CliHangTest, ASignalEndsLeadWhereverItIs) {
  child_process leading{
      through_network("lead", script_with(R"(trap "echo signalled; exit 0" TERM)"))};
  ASSERT_EQ(leading.read_line(), "started");
  const auto waiting = start(through_network("lead", "echo mine"));
  const auto unanswered = hang();
  leading.send_signal(SIGTERM);
  waiting->send_signal(SIGTERM);
  EXPECT_EQ(leading.wait(), 0);
  EXPECT_EQ(waiting->wait(), 128 + SIGTERM);
  EXPECT_FALSE(is_over(unanswered));
  proxy_.pass();
}

INSTANTIATE_TEST_SUITE_P(On, CliHangTest,
                         testing::Values(cli_database_kind{"Postgres", make_postgres_database},
                                         cli_database_kind{"Mariadb", make_mariadb_database}),
                         [](const auto& kind) { return std::string{kind.param.name}; });

}  // namespace

}  // namespace rowlock::tests
