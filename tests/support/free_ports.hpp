// Ports of 127.0.0.1 that no process listens on.
#ifndef ROWLOCK_TESTS_SUPPORT_FREE_PORTS_HPP
#define ROWLOCK_TESTS_SUPPORT_FREE_PORTS_HPP

#include <cstddef>
#include <vector>

namespace rowlock::tests {

/// Below those that the system gives to outgoing connections. Another process may still take one
/// before a server does.
std::vector<int> free_ports(std::size_t how_many);

}  // namespace rowlock::tests

#endif
