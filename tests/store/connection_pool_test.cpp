// Who gets a connection of a pool, and who has to wait.
#include "store/connection_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "rowlock/error.hpp"

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

struct connection {
  connection(int n, int& o) : number{n}, open{o} { ++open; }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { --open; }

  [[nodiscard]] bool is_alive() const { return alive; }

  int number;
  int& open;
  bool alive = true;
};

class ConnectionPool : public testing::Test {
 protected:
  using pool = connection_pool<connection>;
  static constexpr auto keeping_leases = connection_use::keeping_leases;

  std::unique_ptr<connection> open() {
    auto made = std::make_unique<connection>(++opened_, open_);
    most_open_ = std::max(most_open_, open_);
    return made;
  }
  pool make_pool(unsigned size, std::chrono::milliseconds timeout = 0ms) {
    return pool{[this] { return open(); }, size, timeout};
  }

  int opened_ = 0;
  int open_ = 0;
  int most_open_ = 0;
};

TEST_F(ConnectionPool, CallsForNewLeasesNeverHaveAll) {
  auto three = make_pool(3);
  const auto one = three.take();
  const auto other = three.take();
  EXPECT_THROW(three.take(), error);
  const auto renewal = three.take(keeping_leases);
  EXPECT_THROW(three.take(keeping_leases), error);
}

TEST_F(ConnectionPool, CallsForNewLeasesMayHaveTheLastOneWhereOthersKeepLeases) {
  auto three = make_pool(3);
  const auto renewal = three.take(keeping_leases);
  const auto one = three.take();
  const auto other = three.take();
  EXPECT_THROW(three.take(keeping_leases), error);
}

TEST_F(ConnectionPool, TheOnlyOneIsForAllCalls) {
  auto one = make_pool(1);
  EXPECT_EQ(one.take()->number, 1);
  const auto renewal = one.take(keeping_leases);
  EXPECT_THROW(one.take(), error);
}

TEST_F(ConnectionPool, OneThatIsGivenBackIsUsedAgainUnlessItIsDead) {
  auto two = make_pool(2);
  EXPECT_EQ(two.take()->number, 1);
  {
    auto again = two.take();
    EXPECT_EQ(again->number, 1);
    again->alive = false;
  }
  EXPECT_EQ(two.take()->number, 2);
  EXPECT_EQ(most_open_, 1) << "there may be no room for two";
}

TEST_F(ConnectionPool, WhoWaitsGetsOneThatIsGivenBack) {
  auto one = make_pool(1, 1h);
  std::vector<std::future<int>> numbers;
  {
    const auto held = one.take();
    for (const auto used_for : {connection_use::anything, keeping_leases}) {
      numbers.push_back(
          std::async(std::launch::async, [&one, used_for] { return one.take(used_for)->number; }));
    }
    while (one.waiting() < 2) std::this_thread::yield();
  }
  for (auto& number : numbers) EXPECT_EQ(number.get(), 1);
}

TEST_F(ConnectionPool, APlaceWhoseConnectionCannotBeOpenedIsFreeAgain) {
  bool is_down = true;
  pool one{[&] {
             if (is_down) throw error{errc::unavailable, "away"};
             return open();
           },
           1, 0ms};
  EXPECT_THROW(one.take(), error);
  is_down = false;
  EXPECT_EQ(one.take()->number, 1);
}

}  // namespace
}  // namespace rowlock::detail
