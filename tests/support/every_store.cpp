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
      {.name = "sqlite",
       .make = [] { return tests::make_sqlite_bench(); },
       .has_transactions = true,
       .keeps_callbacks_from_committing = true,
       .has_entities = true,
       .has_foreign_transactions = true,
       .is_shared_between_processes = true},
      {.name = "soci_sqlite",
       .make = tests::make_soci_sqlite_bench,
       .has_transactions = true,
       .keeps_callbacks_from_committing = true,
       .has_entities = true,
       .has_foreign_transactions = true,
       .is_shared_between_processes = true},
      {.name = "postgres",
       .make = [] { return tests::make_postgres_bench(); },
       .has_transactions = true,
       .has_transactions_side_by_side = true,
       .has_entities = true,
       .has_foreign_transactions = true,
       .is_shared_between_processes = true},
      {.name = "soci_postgres",
       .make = tests::make_soci_postgres_bench,
       .has_transactions = true,
       .keeps_callbacks_from_committing = true,
       .has_transactions_side_by_side = true,
       .has_entities = true,
       .has_foreign_transactions = true,
       .is_shared_between_processes = true},
      {.name = "soci_mysql",
       .make = [] { return tests::make_soci_mysql_bench(); },
       .has_transactions = true,
       .keeps_callbacks_from_committing = true,
       .has_transactions_side_by_side = true,
       .has_entities = true,
       .has_foreign_transactions = true,
       .is_shared_between_processes = true},
  };
}

}  // namespace rowlock
