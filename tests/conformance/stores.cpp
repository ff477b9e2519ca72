// On which stores a case of the suite runs.
#include "conformance/stores.hpp"

namespace rowlock::tests {

namespace {

std::vector<bench_kind> stores_with(bool bench_kind::*capability) {
  auto kinds = every_store();
  std::erase_if(kinds, [capability](const bench_kind& kind) { return !(kind.*capability); });
  return kinds;
}

}  // namespace

std::vector<bench_kind> stores_with_transactions() {
  return stores_with(&bench_kind::has_transactions);
}

std::vector<bench_kind> stores_that_keep_callbacks_from_committing() {
  return stores_with(&bench_kind::keeps_callbacks_from_committing);
}

std::vector<bench_kind> stores_with_transactions_side_by_side() {
  return stores_with(&bench_kind::has_transactions_side_by_side);
}

std::vector<bench_kind> stores_with_entities() { return stores_with(&bench_kind::has_entities); }

std::vector<bench_kind> stores_with_entities_side_by_side() {
  auto kinds = stores_with_entities();
  std::erase_if(kinds, [](const bench_kind& kind) { return !kind.has_transactions_side_by_side; });
  return kinds;
}

std::vector<bench_kind> stores_with_foreign_transactions() {
  return stores_with(&bench_kind::has_foreign_transactions);
}

std::vector<bench_kind> stores_shared_between_processes() {
  return stores_with(&bench_kind::is_shared_between_processes);
}

std::vector<bench_kind> stores_shared_with_children() {
  return stores_with(&bench_kind::is_shared_with_children);
}

}  // namespace rowlock::tests
