// Where InnoDB's gap locks would make deadlocks, there are none.
#include <algorithm>
#include <atomic>
#include <latch>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "mysql/mysql_table.hpp"
#include "support/patience.hpp"

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

  const std::unique_ptr<::soci::session> alone_ = alone_with_deadlocks();

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
    // What was busy for a moment is requested again.
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

TEST_F(MysqlRace, SetsThatCrossAreGrantedAsAWholeOrNotAtAllWithoutADeadlock) {
  constexpr int keys = 6;
  soci_store many{target(), {.pool_size = 8}};
  const auto before = deadlocks();
  std::atomic<int> granted = 0;
  std::atomic<int> touched = 0;
  in_threads(8, [&](int i) {
    for (int round = 0; round < 25; ++round) {
      const auto owner = make_owner_id();
      std::vector<acquire_request> requests;
      for (int k = 0; k < keys; ++k) {
        const int number = i % 2 == 0 ? k : keys - 1 - k;
        requests.push_back(
            {.key = {"invoice", std::to_string(number)}, .owner = owner, .holder = "h", .ttl = 1h});
      }
      // Single keys come in between, so that a set is not as it was seen.
      if (i > 5) requests.resize(1);
      const auto answers = many.acquire(requests, {acquire_mode::all_or_none});
      const auto all =
          std::ranges::count(answers, acquire_status::granted, &acquire_answer::status);
      EXPECT_TRUE(all == 0 || all == std::ssize(requests)) << all;
      std::vector<release_request> held;
      for (std::size_t at = 0; at < requests.size(); ++at) {
        const auto version = answers[at].version.value_or(rowlock::version{});
        held.push_back({.key = requests[at].key, .owner = owner, .version = version});
      }
      auto released = many.release(held);
      const auto is_answered = [&] {  // while a session reads a row it is busy
        return std::ranges::count(released, change_answer::busy) == 0;
      };
      await_that(is_answered, [&] {
        const auto again = many.release(held);
        for (std::size_t at = 0; at < again.size(); ++at) {
          if (released[at] == change_answer::busy) released[at] = again[at];
        }
      });
      // Of a refused set there is nothing to release.
      EXPECT_EQ(std::ranges::count(released, change_answer::done), all);
      if (all == keys) ++granted;
      if (all == 0) ++touched;
    }
  });
  EXPECT_GT(granted, 0);
  EXPECT_GT(touched, 0);
  EXPECT_EQ(deadlocks(), before);
  for (const auto& row : rows_.list()) ADD_FAILURE() << row.key.source_id << " is left";
}

TEST_F(MysqlRace, APurgeDeletesNoRowThatSomebodyTakes) {
  constexpr int keys = 300;
  std::vector<acquire_request> requests;
  for (int k = 0; k < keys; ++k) requests.push_back(request({"idle", std::to_string(k)}));
  std::vector<lock_key> wanted;
  for (const auto& each : requests) wanted.push_back(each.key);
  rows_.read(wanted, read_mode::ready_to_commit);
  database_.execute("update shared_lock set version = 1");
  std::vector<acquire_answer> answers(keys);
  in_threads(2, [&](int i) {
    if (i == 0) {
      for (int round = 0; round < 30; ++round) rows_.purge({.older_than = 1h, .limit = 10'000});
      return;
    }
    for (int k = 0; k < keys; ++k) {
      answers[k] = rows_.acquire(std::span{requests}.subspan(k, 1)).front();
    }
  });
  for (int k = 0; k < keys; ++k) {
    if (answers[k].status != acquire_status::granted) continue;
    EXPECT_EQ(renew(rows_, requests[k].key, *answers[k].version), change_answer::done);
  }
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
