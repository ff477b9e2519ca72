// The limit on MariaDB: the library's own statements through its C library.
#ifndef ROWLOCK_BENCH_RACE_BARE_MARIADB_HPP
#define ROWLOCK_BENCH_RACE_BARE_MARIADB_HPP

#include <string>

#include "race/protocol.hpp"

namespace rowlock::race {

/// In autocommit at READ COMMITTED, with a connection for each thread. Not prepared, as SOCI sends
/// them. Creates no rows and does not wait.
protocol bare_mariadb(std::string name);

}  // namespace rowlock::race

#endif
