// Workers on all nodes of a Galera cluster, whose nodes die, stand still, are cut off, and lag.
#ifndef ROWLOCK_TESTS_CLUSTER_GALERA_GROUND_HPP
#define ROWLOCK_TESTS_CLUSTER_GALERA_GROUND_HPP

#include <memory>

#include "faults/proving_ground.hpp"

namespace rowlock::tests {

std::unique_ptr<proving_ground> make_galera_ground();

}  // namespace rowlock::tests

#endif
