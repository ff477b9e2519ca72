// Locks in servers that keep them in memory, for scale: what a crash of the server takes with it.
#ifndef ROWLOCK_BENCH_RACE_CACHES_HPP
#define ROWLOCK_BENCH_RACE_CACHES_HPP

#include <string>

#include "race/protocol.hpp"

namespace rowlock::race {

/// SET NX PX, and a script that compares and deletes; a connection for each thread. Not durable.
protocol redis(std::string name);
/// add, and delete without a comparison; a connection for each thread. Not durable.
protocol memcached(std::string name);

}  // namespace rowlock::race

#endif
