// A server that hangs, or a network that says nothing: what waits for it ends all the same.
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "support/own_postgres.hpp"
#include "support/stopped_server.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {
namespace {

/// Says when it listens.
class listener final : public release_listener {
 public:
  void released(const lock_key& /*key*/) noexcept override {}
  void listening() noexcept override { ready_.set_value(); }

  void await() { ready_.get_future().get(); }

 private:
  std::promise<void> ready_;
};

class PostgresHang : public postgres_table {
 protected:
  /// So that nothing but the caller ends what is not answered.
  [[nodiscard]] postgres_options endless() const {
    return {.table = table(), .statement_timeout = 23h, .answer_timeout = 24h};
  }
  /// Connections to a network that is silent as soon as there is one.
  [[nodiscard]] auto connecting_and_then_silent() {
    return [this] {
      proxy_.pass();
      auto made = std::make_unique<pqxx::connection>(url_through(proxy_));
      proxy_.black_hole();
      ++made_;
      made_.notify_all();
      return made;
    };
  }

  tcp_proxy proxy_{server_.host(), server_.port()};
  std::atomic<int> made_ = 0;
};

TEST_F(PostgresHang, DoesNotKeepASubscriptionFromEnding) {
  postgres_store rows{url_through(proxy_), endless()};
  listener notified;
  auto listening = rows.listen(notified);
  notified.await();
  proxy_.black_hole();
  listening.reset();
}

TEST_F(PostgresHang, OfItsFirstStatementDoesNotKeepASubscriptionFromEnding) {
  postgres_store rows{connecting_and_then_silent(), endless()};
  listener notified;
  auto listening = rows.listen(notified);
  made_.wait(0);
  listening.reset();
}

TEST_F(PostgresHang, OfItsFirstStatementMakesASubscriptionConnectAgain) {
  postgres_store rows{connecting_and_then_silent(), {.table = table(), .answer_timeout = 100ms}};
  listener notified;
  const auto listening = rows.listen(notified);
  made_.wait(0);
  made_.wait(1);
}

// PQgetResult() returns such an answer again and again.
TEST_F(PostgresHang, IsNotCausedByAnAnswerThatBeginsACopy) {
  postgres_store rows{url_through(proxy_), endless()};
  (void)rows.list();
  proxy_.edit_replies([](const std::string&) { return std::string("H\0\0\0\7\0\0\0", 8); });
  EXPECT_EQ(error_of([&] { (void)rows.list(); }).kind, errc::unavailable);
}

TEST(StoppedPostgres, EndsWaitsAndALockTableWhileItIsStopped) {
  const own_postgres server;
  migrate_postgres(server.url());
  postgres_store theirs{server.url()};
  const postgres_options impatient{.statement_timeout = 2s, .answer_timeout = 3s};
  expect_ends_while_stopped(theirs, std::make_unique<postgres_store>(server.url(), impatient),
                            [&server] { return server.stop(); });
}

}  // namespace
}  // namespace rowlock::tests
