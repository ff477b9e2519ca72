// The stores of rowlock, for the conformance suite.
#include "support/benches.hpp"

namespace rowlock {

std::vector<conformance::bench_kind> conformance::every_store() {
  return {
      {.name = "memory",
       .make = tests::make_memory_bench,
       .has_transactions = true,
       .keeps_callbacks_from_committing = true,
       .has_transactions_side_by_side = true},
      tests::sqlite_kind(),
      {.name = "soci_sqlite",
       .make = tests::make_soci_sqlite_bench,
       .has_transactions = true,
       .keeps_callbacks_from_committing = true,
       .has_entities = true,
       .has_foreign_transactions = true,
       .is_shared_between_processes = true},
      tests::postgres_kind(),
      {.name = "soci_postgres",
       .make = tests::make_soci_postgres_bench,
       .has_transactions = true,
       .keeps_callbacks_from_committing = true,
       .has_transactions_side_by_side = true,
       .has_entities = true,
       .has_foreign_transactions = true,
       .is_shared_between_processes = true,
       .is_shared_with_children = true},
      tests::soci_mysql_kind(),
  };
}

}  // namespace rowlock
