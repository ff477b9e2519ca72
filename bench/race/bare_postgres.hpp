// The limit: the library's own statements in a bare loop over the same driver.
#ifndef ROWLOCK_BENCH_RACE_BARE_POSTGRES_HPP
#define ROWLOCK_BENCH_RACE_BARE_POSTGRES_HPP

#include <string>

#include "race/protocol.hpp"

namespace rowlock::race {

/// Prepared, in autocommit, with a pool of connections that does nothing else. Creates no rows
/// and does not wait.
protocol bare_postgres(std::string name);

}  // namespace rowlock::race

#endif
