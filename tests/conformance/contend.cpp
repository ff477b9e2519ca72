// What a contender does, whatever its store.
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "rowlock/testing/store_bench.hpp"
#include "support/possession.hpp"

namespace rowlock::conformance {

void contend(store& rows, std::unique_ptr<app_connection> connection,
             std::span<const std::string, 3> arguments) {
  const auto how = tests::mode_named(arguments[0]);
  if (how != tests::mode::lease && !connection) {
    throw std::invalid_argument{"without transactions a key can be had by a lease alone, not by " +
                                arguments[0] + ": leave bench_kind::has_transactions false"};
  }
  tests::possession taken{rows, std::move(connection)};
  const auto acquired = taken.try_acquire(how, {arguments[1], arguments[2]});
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

}  // namespace rowlock::conformance
