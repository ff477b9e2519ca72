// rowlock_waiter: waits for a source id when it is told to, says when it was granted, and releases
// it when it is told to.
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/database_url.hpp"
#include "rowlock/lock_table.hpp"

namespace {

using namespace rowlock;

constexpr std::string_view wait_for = "wait for ";

void serve(const database_url& url, const std::string& table, const std::string& type,
           std::chrono::milliseconds ttl) {
  const auto rows = open_store(url, table_name{table});
  lock_table locks{*rows, {.ttl = ttl, .margin = ttl / 10}};
  std::optional<lease> held;
  for (std::string told; std::getline(std::cin, told);) {
    if (told.starts_with(wait_for)) {
      auto granted =
          locks.try_acquire({type, told.substr(wait_for.size())}, {.wait = wait_forever()});
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
    if (arguments.size() != 4) {
      std::cerr << "usage: rowlock_waiter URL TABLE TYPE TTL_MS\n";
      return 64;
    }
    serve(arguments[0], arguments[1], arguments[2],
          std::chrono::milliseconds{std::stol(arguments[3])});
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
