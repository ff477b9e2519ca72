// Leases of a lock_table whose clock the test moves and whose store it can hold up.
#ifndef ROWLOCK_TESTS_LEASE_LEASE_STATE_TEST_HPP
#define ROWLOCK_TESTS_LEASE_LEASE_STATE_TEST_HPP

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "support/hooked_store.hpp"

namespace rowlock::tests {

using namespace std::chrono_literals;

class lease_state_test : public testing::Test {
 protected:
  lease acquire(const std::string& id, std::optional<std::chrono::milliseconds> ttl = {}) {
    return *locks_->try_acquire({"job", id}, {.ttl = ttl});
  }
  bool is_free(const std::string& id) {
    const auto state = rows_.rows().read(std::vector{lock_key{"job", id}}).front();
    return !state || !state->owned;
  }
  static bool is_misuse(const std::function<void()>& call) {
    try {
      call();
    } catch (const error& thrown) {
      return thrown.kind() == errc::misuse;
    }
    return false;
  }
  static void await(const std::stop_token& stop) {
    gate stopped;
    const std::stop_callback open{stop, [&] { stopped.open(); }};
    stopped.pass();
  }

  std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  std::optional<lock_table> locks_{std::in_place, rows_,
                                   lock_options{.ttl = 30s, .margin = 1s, .time = time_}};
};

}  // namespace rowlock::tests

#endif
