// On which stores a case of the suite runs.
#ifndef ROWLOCK_TESTS_CONFORMANCE_STORES_HPP
#define ROWLOCK_TESTS_CONFORMANCE_STORES_HPP

#include <vector>

#include "support/store_bench.hpp"

namespace rowlock::tests {

using conformance::every_store;

/// The same, and each again with other requests in every call of its store: a call of one request
/// and one of several are not made by the same statement.
std::vector<bench_kind> alone_and_beside_others(const std::vector<bench_kind>& kinds);

/// For INSTANTIATE_TEST_SUITE_P. They may be empty: a suite that uses them says
/// GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST.
std::vector<bench_kind> stores_with_transactions();
std::vector<bench_kind> stores_that_keep_callbacks_from_committing();
std::vector<bench_kind> stores_with_transactions_side_by_side();
std::vector<bench_kind> stores_with_entities();
/// Of which two transactions that have both locked rows can be open at once.
std::vector<bench_kind> stores_with_entities_side_by_side();
std::vector<bench_kind> stores_with_foreign_transactions();
std::vector<bench_kind> stores_shared_between_processes();
std::vector<bench_kind> stores_shared_with_children();

}  // namespace rowlock::tests

#endif
