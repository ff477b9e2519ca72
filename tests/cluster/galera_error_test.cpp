// What a Galera cluster answers instead of doing something, and what that means to the caller.
#include <gtest/gtest.h>
#include <soci/soci.h>

#include <functional>
#include <future>

#include "cluster/galera_locks.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/soci.hpp"
#include "support/caught_error.hpp"

namespace rowlock::tests {
namespace {

class GaleraError : public galera_locks {
 protected:
  /// Adds one to the counter, in a transaction at node 1 whose first run does `first_time` in
  /// between. How often it ran.
  static int runs_until_counted(const std::function<void(soci::session&)>& first_time) {
    soci::session session{target(1)};
    int count = 0;
    static_cast<void>(retry(wait_for(patience), [&] {
      soci_transaction transaction{session};
      session << "update counter set value = value + 1 where book = 0";
      if (++count == 1) first_time(session);
      transaction.commit();
      return commit_result::committed;
    }));
    return count;
  }

  static void write_at_node_0() {
    books_at(0)->outside().execute("update counter set value = value + 10 where book = 0");
  }

  static void expect_counter(std::int64_t value) {
    const auto in_step = books_at(0);
    in_step->catch_up();
    EXPECT_EQ(in_step->outside().number("select value from counter where book = 0"), value);
  }

  std::vector<acquire_answer> acquire_at(std::size_t node) {
    return rows(node).acquire({&request_, 1});
  }

  const acquire_request request_{.key = {.type = "cluster", .source_id = "1"},
                                 .owner = make_owner_id(),
                                 .holder = "host:1",
                                 .ttl = std::chrono::hours{1}};
};

TEST_F(GaleraError, OfALostRaceAtTheCommitRunsTheTransactionAgain) {
  EXPECT_EQ(runs_until_counted([](soci::session& /*used*/) { write_at_node_0(); }), 2);
  expect_counter(11);
}

TEST_F(GaleraError, OfALostRaceAtTheNextStatementRunsTheTransactionAgain) {
  const auto lose = [](soci::session& used) {
    write_at_node_0();
    const auto at_node_1 = books_at(1);
    at_node_1->catch_up();  // and so has rolled us back
    at_node_1->outside().number("select value from counter where book = 0");
    used << "update counter set value = value + 1 where book = 2";
    ADD_FAILURE() << "a statement of a transaction that is over was accepted";
  };
  EXPECT_EQ(runs_until_counted(lose), 2);
  expect_counter(11);
}

TEST_F(GaleraError, OfANodeThatIsCutOffIsUnavailable) {
  cluster().isolate(1);
  EXPECT_EQ(kind_thrown_by([&] { acquire_at(1); }), errc::unavailable);
  EXPECT_EQ(kind_thrown_by([&] { rows(1).read(std::array{request_.key}); }), errc::unavailable);
  EXPECT_EQ(acquire_at(0).front().status, acquire_status::granted);
  cluster().reconnect(1);
  books_at(1)->catch_up();
  EXPECT_EQ(acquire_at(1).front().status, acquire_status::granted) << "the same attempt adopts it";
}

TEST_F(GaleraError, OfACommitThatLosesTheOtherNodesIsInDoubt) {
  soci::session session{target(0)};
  soci_transaction transaction{session};
  session << "update counter set value = value + 1 where book = 0";
  cluster().kill(1);
  cluster().kill(2);
  auto acquiring =
      std::async(std::launch::async, [&] { return kind_thrown_by([&] { acquire_at(0); }); });
  EXPECT_EQ(kind_thrown_by([&] { transaction.commit(); }), errc::outcome_unknown);
  EXPECT_EQ(acquiring.get(), errc::outcome_unknown);
  cluster().await_refusal(0);
  EXPECT_EQ(kind_thrown_by([&] { acquire_at(0); }), errc::unavailable);

  cluster().let_serve_alone(0);
  EXPECT_EQ(acquire_at(0).front().status, acquire_status::granted);
  cluster().restart(1);
  cluster().restart(2);
}

}  // namespace
}  // namespace rowlock::tests
