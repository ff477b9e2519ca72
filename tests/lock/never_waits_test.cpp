// Which requests may wait for a transaction in a race of microseconds.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "rowlock/fence.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/passing_store.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

/// Records whether requests never wait.
class recording_store final : public passing_store {
 public:
  using passing_store::passing_store;

  std::vector<bool> acquisitions() {
    const std::scoped_lock lock{mutex_};
    return acquisitions_;
  }
  std::vector<bool> releases() {
    const std::scoped_lock lock{mutex_};
    return releases_;
  }

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    {
      const std::scoped_lock lock{mutex_};
      acquisitions_.push_back(requests.front().never_waits);
    }
    return passing_store::do_acquire(requests, mode);
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    {
      const std::scoped_lock lock{mutex_};
      releases_.push_back(requests.front().never_waits);
    }
    return passing_store::do_release(requests);
  }

 private:
  std::mutex mutex_;
  std::vector<bool> acquisitions_;
  std::vector<bool> releases_;
};

class NeverWaits : public testing::Test {
 protected:
  const lock_key key_{"job", "a"};
  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  memory_store memory_{time_};
  recording_store rows_{memory_};
  lock_table theirs_{memory_, {.ttl = 1h, .time = time_}};
  lock_table ours_{rows_, {.ttl = 1h, .time = time_}};
};

TEST_F(NeverWaits, ATryForAWaiterUnlikeTheCallersOwn) {
  auto held = theirs_.try_acquire(key_);
  auto waiting = std::async(std::launch::async,
                            [this] { return ours_.try_acquire(key_, {.wait = wait_forever()}); });
  await_that([&] { return rows_.acquisitions().size() == 1; });
  held->release();
  await_answer(waiting, [this] { time_->advance(20ms); });
  EXPECT_TRUE(waiting.get().acquired());
  EXPECT_FALSE(rows_.acquisitions().front());
  EXPECT_TRUE(rows_.acquisitions().back());
}

TEST_F(NeverWaits, AReleaseInTheBackgroundUnlikeTheCallersOwn) {
  auto held = *ours_.try_acquire(key_);
  std::optional<memory_transaction> in_the_way{std::in_place, memory_};
  fence(*in_the_way, held);
  auto releasing = std::async(std::launch::async, [&] { return held.release(); });
  await_answer(releasing, [this] { time_->advance(5ms); });
  EXPECT_EQ(releasing.get(), release_result::deferred);
  EXPECT_FALSE(rows_.releases().back());
  in_the_way.reset();
  await_that([&] { return !theirs_.look(key_)->owned; }, [this] { time_->advance(5ms); });
  EXPECT_TRUE(rows_.releases().back());
}

}  // namespace
}  // namespace rowlock::tests
