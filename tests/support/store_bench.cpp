// What a bench does that has nothing of the kind.
#include "rowlock/testing/store_bench.hpp"

#include <ostream>
#include <stdexcept>

namespace rowlock::conformance {

std::unique_ptr<app_connection> store_bench::connect() {
  throw std::logic_error{
      "this bench has no transactions: override connect(), or leave has_transactions false"};
}

std::shared_ptr<void> store_bench::lock_as_a_stranger(const lock_key& /*key*/) {
  throw std::logic_error{
      "this bench has no foreign transactions: override lock_as_a_stranger(), or leave "
      "has_foreign_transactions false"};
}

std::vector<std::string> store_bench::contender() const {
  throw std::logic_error{
      "this bench names no contender: override contender(), or leave is_shared_between_processes "
      "false"};
}

std::ostream& operator<<(std::ostream& out, const bench_kind& shown) { return out << shown.name; }

}  // namespace rowlock::conformance
