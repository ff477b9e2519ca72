// What waits for a server that stands still ends all the same.
#ifndef ROWLOCK_TESTS_SUPPORT_STOPPED_SERVER_HPP
#define ROWLOCK_TESTS_SUPPORT_STOPPED_SERVER_HPP

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>

#include "rowlock/lock_table.hpp"
#include "support/caught_error.hpp"
#include "support/watched_store.hpp"

namespace rowlock::tests {

/// A wait for a held key whose server stopped: it is not acquired, or the statement that was under
/// way is in doubt.
inline void expect_not_acquired(std::future<outcome<lease>>& waited) {
  try {
    EXPECT_FALSE(waited.get().acquired());
  } catch (const error& fault) {
    EXPECT_TRUE(fault.kind() == errc::unavailable || fault.kind() == errc::outcome_unknown)
        << fault.what();
  }
}

/// `stop()` stops the server as long as what it returns lives. Two wait for a key that `their_rows`
/// has, one until it is stopped and one for a while, and a lease is renewed; then the waits, the
/// lock_table and its store end while the server stands still.
template <class Stop>
void expect_ends_while_stopped(store& their_rows, std::unique_ptr<store> rows, const Stop& stop) {
  using namespace std::chrono_literals;
  lock_table theirs{their_rows};
  const auto held = theirs.try_acquire({"job", "held"});
  std::optional<watched_store> watched{std::in_place, *rows};
  std::optional<lock_table> locks{std::in_place, *watched,
                                  lock_options{.ttl = 3s, .margin = 100ms}};
  const auto kept = *locks->try_acquire({"job", "kept"});
  const auto waiter = [&locks](const retry_policy& wait) {
    return std::async(std::launch::async, [&locks, wait] {
      return locks->try_acquire({"job", "held"}, {.wait = wait});
    });
  };
  std::stop_source end;
  auto until_stopped = waiter(wait_until_stopped(end.get_token()));
  auto for_a_while = waiter(wait_for(2s));
  watched->await_refusals(2);
  {
    const auto stopped = stop();
    std::promise<void> lost;
    const std::stop_callback on_loss{kept.lost(), [&] { lost.set_value(); }};
    lost.get_future().get();  // its renewal is not answered
    end.request_stop();
    expect_not_acquired(until_stopped);
    expect_not_acquired(for_a_while);
    locks.reset();
    watched.reset();
    rows.reset();
  }
}

}  // namespace rowlock::tests

#endif
