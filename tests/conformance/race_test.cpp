// Many threads at once.
#include <algorithm>
#include <future>
#include <latch>
#include <mutex>
#include <vector>

#include "conformance/store_test.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

constexpr int rivals = 8;

class Race : public store_test {
 protected:
  /// Lets `rivals` threads acquire at the same moment, each at a store of its own; their answers.
  std::vector<acquire_answer> race(std::optional<version> expected = {}) {
    std::latch start{rivals};
    std::vector<std::future<acquire_answer>> racing;
    for (int number = 0; number < rivals; ++number) {
      racing.push_back(std::async(std::launch::async, [&, rows = bench_->open()] {
        start.arrive_and_wait();
        return acquire(*rows, key_, make_owner_id(), expected);
      }));
    }
    std::vector<acquire_answer> answers;
    for (auto& each : racing) answers.push_back(each.get());
    return answers;
  }

  static std::ptrdiff_t grants(const std::vector<acquire_answer>& answers) {
    return std::count_if(answers.begin(), answers.end(), [](const auto& answer) {
      return answer.status == acquire_status::granted;
    });
  }
};

TEST_P(Race, ForAMissingRowHasOneWinner) { EXPECT_EQ(grants(race()), 1); }

TEST_P(Race, ForAnUnownedRowHasOneWinner) {
  unowned(key_);
  EXPECT_EQ(grants(race()), 1);
}

TEST_P(Race, ForALeaseThatRanOutHasOneWinnerAndCountsOneExpiry) {
  run_out(key_, theirs_);
  EXPECT_EQ(grants(race()), 1);
  EXPECT_EQ(row(key_).expiry_count, 1);
}

TEST_P(Race, ForOneVersionHasOneWinner) {
  const auto seen = unowned(key_);
  EXPECT_EQ(grants(race(seen)), 1);
}

TEST_P(Race, ForAKeyGivesEveryGrantAGreaterVersionThanTheOneBefore) {
  constexpr int rounds = 25;
  std::mutex mutex;
  std::vector<version> in_order;
  const auto rounds_of_one = [&] {
    const owner_id owner = make_owner_id();
    for (int round = 0; round < rounds; ++round) {
      acquire_answer answer;
      await_that([&] {
        for (int tries = 0; tries < 100; ++tries) {  // without a pause, so that they meet
          answer = acquire(*rows_, key_, owner);
          if (answer.status == acquire_status::granted) return true;
        }
        return false;
      });
      {
        // While the key is ours, so that the order is that of the grants.
        const std::scoped_lock lock{mutex};
        in_order.push_back(*answer.version);
      }
      await_that(
          [&] { return release(*rows_, key_, owner, *answer.version) != change_answer::busy; });
    }
  };
  std::vector<std::future<void>> racing;
  for (int number = 0; number < 4; ++number) {
    racing.push_back(std::async(std::launch::async, rounds_of_one));
  }
  for (auto& each : racing) each.get();
  EXPECT_EQ(in_order.size(), 4U * rounds);
  EXPECT_EQ(std::adjacent_find(in_order.begin(), in_order.end(), std::greater_equal<>{}),
            in_order.end());
  EXPECT_EQ(row(key_).expiry_count, 0);
}

TEST_P(Race, BetweenOverlappingBatchesGrantsEachKeyOnceAndNeverDeadlocks) {
  constexpr int rounds = 10;
  constexpr int keys = 6;
  for (int round = 0; round < rounds; ++round) {
    std::latch start{2};
    // One of the two acquires the keys in the opposite order.
    const auto acquire_in_order = [&](bool is_backwards) {
      std::vector<acquire_request> requests;
      for (int number = 0; number < keys; ++number) {
        const lock_key key{"round" + std::to_string(round), std::to_string(number)};
        requests.push_back({.key = key, .owner = make_owner_id(), .holder = "host:1", .ttl = 1h});
      }
      if (is_backwards) std::reverse(requests.begin(), requests.end());
      start.arrive_and_wait();
      return grants(rows_->acquire(requests));
    };
    auto forwards = std::async(std::launch::async, acquire_in_order, false);
    auto backwards = std::async(std::launch::async, acquire_in_order, true);
    EXPECT_LE(forwards.get() + backwards.get(), keys);
  }
}

TEST_P(Race, ForNewKeysOfTheirOwnRefusesNone) {
  constexpr int keys = 50;
  std::latch start{rivals};
  std::vector<std::future<std::ptrdiff_t>> racing;
  for (int number = 0; number < rivals; ++number) {
    racing.push_back(std::async(std::launch::async, [&, number] {
      std::vector<acquire_answer> answers;
      start.arrive_and_wait();
      for (int each = 0; each < keys; ++each) {
        const lock_key key{"message", std::to_string(number) + '-' + std::to_string(each)};
        answers.push_back(acquire(*rows_, key, make_owner_id()));
      }
      return grants(answers);
    }));
  }
  for (auto& each : racing) EXPECT_EQ(each.get(), keys);
}

INSTANTIATE_TEST_SUITE_P(Stores, Race, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
