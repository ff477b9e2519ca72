// The limit on SQLite: the library's own statements through its C API.
#ifndef ROWLOCK_BENCH_RACE_BARE_SQLITE_HPP
#define ROWLOCK_BENCH_RACE_BARE_SQLITE_HPP

#include <string>

#include "race/protocol.hpp"

namespace rowlock::race {

/// Prepared once, WAL and synchronous=FULL as the library has them. The threads of a process take
/// turns on one connection, since SQLite has one writer anyway. Does not wait.
protocol bare_sqlite(std::string name);

}  // namespace rowlock::race

#endif
