// Asio: a hundred coroutines of one thread want the same few keys, and no thread blocks.
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <iostream>
#include <string>

#include "rowlock/asio.hpp"
#include "rowlock/testing/memory_store.hpp"

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

namespace {

asio::awaitable<void> pause(std::chrono::milliseconds duration) {
  asio::steady_timer timer{co_await asio::this_coro::executor, duration};
  co_await timer.async_wait(asio::use_awaitable);
}

// The row is unset after the coroutine, by a thread of the lock_table.
asio::awaitable<void> settle(rowlock::lock_table& locks, std::string invoice, int& settled) {
  // Named, because GCC 12 destroys a temporary of braces within a co_await twice.
  const rowlock::lock_key key{"invoice", invoice};
  const rowlock::acquire_options options{.wait = rowlock::wait_forever()};
  const auto done = co_await rowlock::async_with_lock(
      locks, key,
      [&](const rowlock::lease& held) -> asio::awaitable<int> {
        co_await pause(1ms);  // stands for the work, which hands held.token() to the world outside
        co_return held.is_valid() ? 1 : 0;
      },
      options);
  settled += *done;
}

// A cancelled coroutine leaves the queue of its key; here a faster timer cancels it.
asio::awaitable<void> give_up(rowlock::lock_table& locks, const rowlock::lock_key& key) {
  const rowlock::acquire_options options{.wait = rowlock::wait_forever()};
  const auto first = co_await (rowlock::async_acquire(locks, key, options) || pause(20ms));
  std::cout << (first.index() == 0 ? "acquired after all" : "went home") << '\n';
}

asio::awaitable<void> hold_and_wait(rowlock::lock_table& locks, rowlock::lock_table& rival) {
  const rowlock::lock_key key{"report", "daily"};
  auto held = co_await rowlock::async_acquire(locks, key);
  co_await give_up(rival, key);
  co_await rowlock::async_release(*std::move(held));  // a destructor would block this thread
  const auto again = co_await rowlock::async_acquire(rival, key);
  std::cout << (again.acquired() ? "the rival has it" : "not acquired") << '\n';
}

}  // namespace

int main() {                    // NOLINT(bugprone-exception-escape): what ends an example is shown
  rowlock::memory_store store;  // or postgres_store, sqlite_store, soci_store
  rowlock::lock_table locks{store, {.ttl = 30s}};
  rowlock::lock_table rival{store};
  int settled = 0;

  asio::io_context io;
  for (int i = 0; i < 100; ++i) {
    asio::co_spawn(io, settle(locks, std::to_string(i % 10), settled), asio::detached);
  }
  asio::co_spawn(io, hold_and_wait(locks, rival), asio::detached);
  io.run();
  std::cout << settled << " settled\n";
}
