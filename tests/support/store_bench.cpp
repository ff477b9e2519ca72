// What a store tells the conformance suite about itself.
#include "support/store_bench.hpp"

#include <ostream>
#include <stdexcept>

namespace rowlock::tests {

std::shared_ptr<void> store_bench::lock_as_a_stranger(const lock_key& /*key*/) {
  throw std::logic_error{"this store has no foreign transactions"};
}

std::string store_bench::url() const {
  throw std::logic_error{"this store is not shared between processes"};
}

std::string store_bench::table() const {
  throw std::logic_error{"this store is not shared between processes"};
}

std::ostream& operator<<(std::ostream& out, const bench_kind& shown) { return out << shown.name; }

std::vector<bench_kind> every_store() {
  return {
      {.name = "memory", .make = make_memory_bench, .has_transactions_side_by_side = true},
      {.name = "sqlite",
       .make = make_sqlite_bench,
       .is_shared_between_processes = true,
       .has_foreign_transactions = true},
      {.name = "soci_sqlite",
       .make = make_soci_sqlite_bench,
       .is_shared_between_processes = true,
       .has_foreign_transactions = true},
      {.name = "postgres",
       .make = make_postgres_bench,
       .is_shared_between_processes = true,
       .has_transactions_side_by_side = true,
       .has_foreign_transactions = true},
      {.name = "soci_postgres",
       .make = make_soci_postgres_bench,
       .is_shared_between_processes = true,
       .has_transactions_side_by_side = true,
       .has_foreign_transactions = true},
      {.name = "soci_mysql",
       .make = make_soci_mysql_bench,
       .is_shared_between_processes = true,
       .has_transactions_side_by_side = true,
       .has_foreign_transactions = true},
  };
}

namespace {

std::vector<bench_kind> stores_with(bool bench_kind::*capability) {
  auto kinds = every_store();
  std::erase_if(kinds, [capability](const bench_kind& kind) { return !(kind.*capability); });
  return kinds;
}

}  // namespace

std::vector<bench_kind> stores_shared_between_processes() {
  return stores_with(&bench_kind::is_shared_between_processes);
}

std::vector<bench_kind> stores_with_transactions_side_by_side() {
  return stores_with(&bench_kind::has_transactions_side_by_side);
}

std::vector<bench_kind> stores_with_foreign_transactions() {
  return stores_with(&bench_kind::has_foreign_transactions);
}

}  // namespace rowlock::tests
