// Lets the conformance suite of MariaDB run through a node of the cluster that is not the first.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "cluster/cluster_test.hpp"
#include "support/benches.hpp"

namespace rowlock::tests {
namespace {

class conformance_on_galera final : public testing::Environment {
  void SetUp() override {
    setenv("ROWLOCK_TEST_MARIADB", cluster().url(1).c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
};

[[maybe_unused]] const auto* const registered =
    testing::AddGlobalTestEnvironment(std::make_unique<conformance_on_galera>().release());

}  // namespace
}  // namespace rowlock::tests

std::vector<rowlock::conformance::bench_kind> rowlock::conformance::every_store() {
  return {tests::soci_mysql_kind()};
}
