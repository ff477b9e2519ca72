// rowlock_contender: tries once to take a key, says what came of it, and keeps the key until told.
#include <exception>
#include <iostream>
#include <string>

#include "cli/database_url.hpp"
#include "support/possession.hpp"
#include "support/soci_application.hpp"

namespace {

using namespace rowlock;
using namespace rowlock::tests;

std::unique_ptr<app_connection> connect(const database_url& url, const std::string& table) {
  switch (url.which()) {
    case database_url::engine::sqlite:
      return connect_to_sqlite(url.target(), table);
    case database_url::engine::soci:
      return connect_through_soci(url.target(), table);
    case database_url::engine::postgresql:
      break;
  }
  return connect_to_postgres(url.target(), table);
}

void contend(const database_url& url, const std::string& table, mode how, const lock_key& key) {
  const auto rows = open_store(url, table_name{table});
  possession taken{*rows, connect(url, table)};
  const auto acquired = taken.try_acquire(how, key);
  if (!acquired.acquired()) {
    std::cout << "refused " << acquired.refusal().reason << std::endl;
    return;
  }
  std::cout << "acquired " << *acquired << std::endl;
  std::string line;
  std::getline(std::cin, line);  // `release`, or the end of the input
  taken.end();
  std::cout << "ended" << std::endl;
}

}  // namespace

int main(int count, char** values) {
  try {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() != 5) {
      std::cerr << "usage: rowlock_contender URL TABLE MODE TYPE SOURCE\n";
      return 64;
    }
    contend(arguments[0], arguments[1], mode_named(arguments[2]), {arguments[3], arguments[4]});
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
