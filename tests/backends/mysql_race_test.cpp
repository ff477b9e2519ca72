// Where InnoDB's gap locks would make deadlocks, there are none.
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "backends/mysql_table.hpp"

namespace rowlock::tests {
namespace {

class MysqlRace : public mysql_test {
 protected:
  /// Of all transactions of the server that deadlocks ended.
  [[nodiscard]] long long deadlocks() const {
    return number(
        "select variable_value from information_schema.global_status "
        "where variable_name = 'Innodb_deadlocks'");
  }

  template <class Work>
  static void in_threads(int count, const Work& work) {
    std::latch start{count};
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        work(i);
      });
    }
  }
};

TEST_F(MysqlRace, FiftyThreadsOnAnEmptyTableHaveOneWinnerAndNoDeadlock) {
  soci_store many{target(), {.pool_size = 50}};
  const auto before = deadlocks();
  std::atomic<int> granted = 0;
  in_threads(50, [&](int /*i*/) {
    const acquire_request mine{.key = key_, .owner = make_owner_id(), .holder = "h", .ttl = 1h};
    if (many.acquire(std::array{mine}).front().status == acquire_status::granted) ++granted;
  });
  EXPECT_EQ(granted, 1);
  EXPECT_EQ(deadlocks(), before);
}

TEST_F(MysqlRace, BatchesOfMissingRowsInAnyOrderGrantEachOnceWithoutADeadlock) {
  soci_store many{target(), {.pool_size = 8}};
  constexpr int keys = 40;
  const auto before = deadlocks();
  std::atomic<int> granted = 0;
  in_threads(8, [&](int i) {
    std::vector<acquire_request> requests;
    for (int k = 0; k < keys; ++k) {
      const int number = i % 2 == 0 ? k : keys - 1 - k;
      requests.push_back({.key = {"invoice", std::to_string(number)},
                          .owner = make_owner_id(),
                          .holder = "h",
                          .ttl = 1h});
    }
    // What was busy for a moment is asked for again.
    for (int tries = 0; tries < 20; ++tries) {
      std::vector<acquire_request> busy;
      const auto answers = many.acquire(requests);
      for (std::size_t at = 0; at < requests.size(); ++at) {
        if (answers[at].status == acquire_status::granted) ++granted;
        if (answers[at].status == acquire_status::busy) busy.push_back(requests[at]);
      }
      requests = busy;
      if (requests.empty()) break;
    }
  });
  EXPECT_EQ(granted, keys);
  EXPECT_EQ(deadlocks(), before);
}

TEST_F(MysqlRace, RowLocksOnMissingRowsHaveNoDeadlock) {
  const auto before = deadlocks();
  std::atomic<int> ran = 0;
  in_threads(8, [&](int i) {
    const auto session = connect();
    for (int round = 0; round < 5; ++round) {
      const lock_keys pair{{"a", std::to_string(round)}, {"b", std::to_string(i % 2)}};
      const auto done = with_row_lock<soci_transaction>(*session, pair, wait_for(30s),
                                                        [&](soci_transaction&) { ++ran; });
      EXPECT_TRUE(done.acquired());
    }
  });
  EXPECT_EQ(ran, 40);
  EXPECT_EQ(deadlocks(), before);
}

}  // namespace
}  // namespace rowlock::tests
