// The faults of a network.
#ifndef ROWLOCK_TESTS_FAULTS_NETWORK_FAULTS_HPP
#define ROWLOCK_TESTS_FAULTS_NETWORK_FAULTS_HPP

#include <chrono>

#include "faults/chaos.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::tests {

/// Both outlive the last strike and what it left to heal.
inline void add_network_faults(chaos& all, tcp_proxy& network) {
  using std::chrono::milliseconds;
  all.add("network resets", [&network] { network.reset(); });
  all.add("replies swallowed", [&network] { network.swallow_reply(); });
  all.add("commits swallowed", [&network] { network.swallow_reply("COMMIT"); });
  all.add("network delays", [&network, &all] {
    network.delay(milliseconds{1 + all.draw(50)});
    all.later(milliseconds{all.draw(500)}, [&network] { network.pass(); });
  });
  all.add("black holes", [&network, &all] {
    network.black_hole();
    all.later(milliseconds{all.draw(1000)}, [&network] { network.pass(); });
  });
}

}  // namespace rowlock::tests

#endif
