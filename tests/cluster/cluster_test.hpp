// Tests on a real Galera cluster of three nodes.
#ifndef ROWLOCK_TESTS_CLUSTER_CLUSTER_TEST_HPP
#define ROWLOCK_TESTS_CLUSTER_CLUSTER_TEST_HPP

#include <gtest/gtest.h>

#include <cstddef>

#include "support/galera_cluster.hpp"

namespace rowlock::tests {

/// The one cluster of the program. A test leaves all its nodes in step.
inline galera_cluster& cluster() {
  static galera_cluster only;
  return only;
}

class cluster_test : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t node = 0; node < galera_cluster::size; ++node) {
      ASSERT_TRUE(cluster().is_in_step(node)) << "the test before left node " << node << " behind";
    }
  }
};

}  // namespace rowlock::tests

#endif
