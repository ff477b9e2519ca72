// Calls that meet on a store whose statements share them.
#ifndef ROWLOCK_TESTS_BATCH_BATCHING_HPP
#define ROWLOCK_TESTS_BATCH_BATCHING_HPP

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rowlock/port/batching_store.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {

using namespace std::chrono_literals;

inline acquire_request request_for(const std::string& id) {
  return {.key = {"job", id}, .owner = make_owner_id(), .holder = "one of us", .ttl = 1h};
}

inline release_request giving_back(const acquire_request& held, const acquire_answer& granted) {
  return {.key = held.key, .owner = held.owner, .version = *granted.version};
}

class Batching : public testing::Test {
 protected:
  using answers = std::vector<acquire_answer>;

  acquire_answer acquire(const acquire_request& request) {
    return grouped_->acquire(std::array{request}).front();
  }
  std::future<answers> start(std::vector<acquire_request> requests) {
    return std::async(std::launch::async, [this, requests = std::move(requests)] {
      return grouped_->acquire(requests);
    });
  }
  /// Returns once so many calls wait for their statement.
  void await_waiting(std::size_t count) {
    await_that([&] { return grouped_->waiting() >= count; });
  }
  /// The first statement from now on stays under way until the gate is opened.
  std::future<answers> hold_up() {
    const auto has_come = std::make_shared<std::atomic<bool>>(false);
    rows_.before("acquire", [this, has_come] {
      if (!has_come->exchange(true)) first_.pass();
    });
    auto held_up = start({request_for("first")});
    await_that([&] { return has_come->load(); });
    return held_up;
  }
  void regroup(const batching_options& options) { grouped_.emplace(rows_, options); }

  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  gate first_;
  std::optional<batching_store> grouped_{std::in_place, rows_, batching_options{.in_flight = 1}};
};

}  // namespace rowlock::tests

#endif
