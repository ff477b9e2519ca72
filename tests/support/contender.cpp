// rowlock_contender: the contender of the conformance suite on every database.
#include <exception>
#include <iostream>
#include <string>

#include "cli/database_url.hpp"
#include "rowlock/testing/store_bench.hpp"
#include "support/database_application.hpp"
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

}  // namespace

int main(int count, char** values) {
  try {
    const std::vector<std::string> arguments(values + 1, values + count);
    if (arguments.size() != 5) {
      std::cerr << "usage: rowlock_contender URL TABLE MODE TYPE SOURCE\n";
      return 64;
    }
    const database_url url{arguments[0]};
    const auto rows = open_store(url, table_name{arguments[1]});
    conformance::contend(*rows, connect(url, arguments[1]), std::span{arguments}.subspan<2, 3>());
    return 0;
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 1;
  }
}
