// Every protocol that can be measured, a line for each.
#ifndef ROWLOCK_BENCH_RACE_KNOWN_PROTOCOLS_HPP
#define ROWLOCK_BENCH_RACE_KNOWN_PROTOCOLS_HPP

#include <vector>

#include "race/protocol.hpp"

namespace rowlock::race {

std::vector<protocol> known_protocols();

}  // namespace rowlock::race

#endif
