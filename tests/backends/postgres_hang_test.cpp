// A server that hangs, or a network that says nothing: what waits for it ends all the same.
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>

#include "backends/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "support/own_postgres.hpp"
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
  listener heard;
  auto listening = rows.listen(heard);
  heard.await();
  proxy_.black_hole();
  listening.reset();
}

TEST_F(PostgresHang, OfItsFirstStatementDoesNotKeepASubscriptionFromEnding) {
  postgres_store rows{connecting_and_then_silent(), endless()};
  listener heard;
  auto listening = rows.listen(heard);
  made_.wait(0);
  listening.reset();
}

TEST_F(PostgresHang, OfItsFirstStatementMakesASubscriptionConnectAgain) {
  postgres_store rows{connecting_and_then_silent(), {.table = table(), .answer_timeout = 100ms}};
  listener heard;
  const auto listening = rows.listen(heard);
  made_.wait(0);
  made_.wait(1);
}

// One call under way each: a look of those who wait, a renewal, and an acquisition.
TEST(StoppedPostgres, EndsWaitsAndALockTableWhileItIsStopped) {
  const own_postgres server;
  migrate_postgres(server.url());
  postgres_store their_rows{server.url()};
  lock_table theirs{their_rows};
  const auto held = theirs.try_acquire({"job", "held"});
  postgres_store rows{server.url(), {.statement_timeout = 2s, .answer_timeout = 3s}};
  std::optional<lock_table> locks{std::in_place, rows, lock_options{.ttl = 600ms, .margin = 100ms}};
  const auto kept = *locks->try_acquire({"job", "kept"});
  std::stop_source stop;
  const auto waiter = [&](const retry_policy& wait) {
    return std::async(std::launch::async, [&locks, wait] {
      return locks->try_acquire({"job", "held"}, {.wait = wait});
    });
  };
  auto until_stopped = waiter(wait_until_stopped(stop.get_token()));
  auto for_a_while = waiter(wait_for(1500ms));
  observer{server.url()}.await(
      "select count(*) = 1 from pg_stat_activity where query like 'LISTEN%'");
  {
    const auto stopped = server.stop();
    std::promise<void> lost;
    const std::stop_callback on_loss{kept.lost(), [&] { lost.set_value(); }};
    lost.get_future().get();  // its renewal is not answered
    stop.request_stop();
    EXPECT_FALSE(until_stopped.get().acquired());
    EXPECT_TRUE(error_of([&] { EXPECT_FALSE(for_a_while.get().acquired()); }).messages.size() < 2);
    locks.reset();
  }
  EXPECT_EQ(held->key().source_id, "held");
}

}  // namespace
}  // namespace rowlock::tests
