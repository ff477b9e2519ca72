// rowlock_waiter: waits for a key when it is told to, says when it was granted, and releases it
// when it is told to.
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/database_url.hpp"
#include "rowlock/lock_table.hpp"

namespace {

using namespace rowlock;

void serve(const database_url& url, const std::string& table, const lock_key& key,
           std::chrono::milliseconds ttl) {
  const auto rows = open_store(url, table_name{table});
  lock_table locks{*rows, {.ttl = ttl, .margin = ttl / 10}};
  std::optional<lease> held;
  for (std::string told; std::getline(std::cin, told);) {
    if (told == "wait") {
      auto granted = locks.try_acquire(key, {.wait = wait_forever()});
      std::cout << boot_clock::now().time_since_epoch().count() << std::endl;
      held.emplace(*std::move(granted));
    } else {
      held.reset();
      std::cout << "released" << std::endl;
    }
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() != 5) {
      std::cerr << "usage: rowlock_waiter URL TABLE TYPE SOURCE TTL_MS\n";
      return 64;
    }
    serve(arguments[0], arguments[1], {arguments[2], arguments[3]},
          std::chrono::milliseconds{std::stol(arguments[4])});
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
