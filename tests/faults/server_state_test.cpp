// A server that is there and does not serve: a standby, one that starts, one that stops.
#include <csignal>
#include <future>

#include "faults/own_server_test.hpp"

namespace rowlock::tests {
namespace {

class ServerState : public own_server_test {
 protected:
  /// Every call that changes something is refused as a fault that says `words`.
  void expect_unavailable(store& rows, const std::string& words) {
    const auto key = key_of_its_own();
    lock_table locks{rows};
    const std::vector<std::function<void()>> calls{
        [&] { (void)locks.try_acquire(key); },
        [&] { rows.acquire(std::array{request(key)}); },
        [&] {
          rows.renew(std::array{renew_request{key, mine_, {1}, 1h}});
        },
        [&] {
          rows.release(std::array{release_request{key, mine_, {1}}});
        },
        [&] { rows.read(std::array{key}, read_mode::ready_to_commit); },
    };
    for (const auto& call : calls) {
      const auto caught = error_of(call);
      EXPECT_EQ(caught.kind, errc::unavailable) << caught.message();
      EXPECT_NE(caught.message().find(words), std::string::npos) << caught.message();
    }
  }

  static void execute(const std::string& sql) {
    pqxx::connection connection{server().url()};
    pqxx::nontransaction autocommit{connection};
    autocommit.exec(sql);
  }

  /// Returns once the server turns new clients away.
  static void await_refusal() {
    await_that([] {
      try {
        pqxx::connection{server().url()};
        return false;
      } catch (const pqxx::broken_connection&) {
        return true;
      }
    });
  }
};

TEST_F(ServerState, OfAHotStandbyIsUnavailableForWritersAndServesReaders) {
  start_with_table();
  const auto key = key_of_its_own();
  postgres_store primary{server().url()};
  const auto granted = primary.acquire(std::array{request(key)}).front();
  const auto standby = postgres_cluster::standby_of(server());
  standby->start();

  postgres_store rows{standby->url()};
  expect_unavailable(rows, "the server is read-only, a standby perhaps: connect to the primary");
  EXPECT_EQ(rows.read(std::array{key}).front()->version, granted.version);
  EXPECT_FALSE(rows.list().empty());
  pqxx::connection connection{standby->url()};
  const auto caught = error_of([&] {
    pqxx::work work{connection};
    (void)lock_rows(work, key_of_its_own(), no_wait());
  });
  EXPECT_EQ(caught.kind, errc::unavailable) << caught.message();
}

TEST_F(ServerState, OfAServerThatDoesNotServeYetIsUnavailable) {
  start_with_table();
  const auto standby = postgres_cluster::standby_of(server());
  standby->start({"hot_standby=off"});  // it says so for good what others say for a while
  postgres_store rows{standby->url()};
  expect_unavailable(rows, "is starting, stopping or recovering");
}

TEST_F(ServerState, OfAServerThatWaitsForItsClientsToLeaveIsUnavailable) {
  start_with_table();
  const observer last_client{server().url()};
  server().begin_to_stop(SIGTERM);
  await_refusal();
  postgres_store rows{server().url()};
  expect_unavailable(rows, "is starting, stopping or recovering");
}

TEST_F(ServerState, OfAServerThatThrowsItsClientsOutLeavesWritesInDoubtAndReadsUnavailable) {
  for (const int signal : {SIGINT, SIGQUIT}) {  // 57P01 and 57P02
    const std::vector<std::string> with_rival{"max_prepared_transactions=1"};
    start_with_table(with_rival);
    const auto key = key_of_its_own();
    postgres_store rows{server().url(), long_waits()};
    (void)rows.list();
    {
      observer seen{server().url()};
      execute(
          "begin; lock table shared_lock in access exclusive mode; "
          "prepare transaction 'rival'");  // no client of it that could be thrown out first
      auto reading =
          std::async(std::launch::async, [&] { return error_of([&] { (void)rows.list(); }); });
      auto writing = std::async(std::launch::async, [&] {
        return error_of([&] { rows.acquire(std::array{request(key)}); });
      });
      seen.await("select count(*) = 2 from pg_stat_activity where wait_event_type = 'Lock'");
      server().begin_to_stop(signal);
      EXPECT_EQ(reading.get().kind, errc::unavailable);
      EXPECT_EQ(writing.get().kind, errc::outcome_unknown);
    }
    server().crash();
    const auto caught = error_of([&] { rows.acquire(std::array{request(key)}); });
    EXPECT_EQ(caught.kind, errc::unavailable) << caught.message();
    server().start(with_rival);
    execute("rollback prepared 'rival'");
    EXPECT_EQ(rows.acquire(std::array{request(key)}).front().status, acquire_status::granted);
    server().crash();
  }
}

}  // namespace
}  // namespace rowlock::tests
