// The stores of rowlock, for the conformance suite.
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "support/benches.hpp"

namespace rowlock {

namespace {

/// Triggers change no answer.
conformance::bench_kind with_history(conformance::bench_kind (*kind)(history_option)) {
  auto made = kind(history_option::with);
  made.name += "_with_history";
  return made;
}

/// Only those that the variable ROWLOCK_TEST_STORES names, if it is set.
std::vector<conformance::bench_kind> named(std::vector<conformance::bench_kind> all) {
  const char* names = std::getenv("ROWLOCK_TEST_STORES");  // NOLINT(concurrency-mt-unsafe)
  if (names == nullptr) return all;
  std::vector<conformance::bench_kind> found;
  std::istringstream words{names};
  for (std::string name; words >> name;) {
    const auto kind = std::ranges::find(all, name, &conformance::bench_kind::name);
    if (kind == all.end()) throw std::invalid_argument{"ROWLOCK_TEST_STORES: no store " + name};
    found.push_back(*kind);
  }
  return found;
}

}  // namespace

std::vector<conformance::bench_kind> conformance::every_store() {
  return named({
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
      with_history(tests::sqlite_kind),
      with_history(tests::postgres_kind),
      with_history(tests::soci_mysql_kind),
  });
}

}  // namespace rowlock
