// The nodes of a Galera cluster die, stand still, are cut off and lag while all of them are written
// to, and nothing is lost.
#include <gtest/gtest.h>

#include "cluster/cluster_test.hpp"
#include "cluster/galera_ground.hpp"
#include "faults/faults_on.hpp"

namespace rowlock::tests {
namespace {

class GaleraFaults : public cluster_test {};

TEST_F(GaleraFaults, LoseNoUpdateAndLetNoFormerHolderCommit) {
  constexpr unsigned of_the_whole = 10;
  faults_on trials{make_galera_ground()};
  for (const auto& size : sizes_from_environment(of_the_whole)) trials.expect_nothing_lost(size);
}

}  // namespace
}  // namespace rowlock::tests
