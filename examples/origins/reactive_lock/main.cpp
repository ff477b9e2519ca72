// Two services that bill one account, each with a reactive lock.
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <iostream>
#include <string>

#include "origins/reactive_lock/reactive_lock.hpp"
#include "origins/support/open_store.hpp"

using namespace std::chrono_literals;

namespace {

asio::awaitable<void> bill(origins::reactive_lock& locks, std::string service) {
  const std::string account = "account-7";
  const int cents = 250;
  const auto charge = [&service](const int& amount) -> asio::awaitable<int> {
    asio::steady_timer working{co_await asio::this_coro::executor, 80ms};
    co_await working.async_wait(asio::use_awaitable);
    std::cout << service << " bills " << amount << " cents\n";
    co_return amount;
  };
  const int billed = co_await locks.execute_with_lock(account, cents, charge);
  std::cout << service << ": " << billed << " cents billed\n";
}

}  // namespace

int main(int arguments, char** argument) {
  try {
    const auto rows = origins::open_store(arguments, argument, "reactive_lock.db");
    asio::io_context io;
    const auto pauses = origins::timers_of(io);
    origins::reactive_lock ours{*rows, pauses, origins::log_to_console};
    origins::reactive_lock theirs{*rows, pauses, origins::log_to_console};
    asio::co_spawn(io, bill(ours, "ours"), asio::detached);
    asio::co_spawn(io, bill(theirs, "theirs"), asio::detached);
    io.run();
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
