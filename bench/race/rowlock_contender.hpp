// This library on any of its stores.
#ifndef ROWLOCK_BENCH_RACE_ROWLOCK_CONTENDER_HPP
#define ROWLOCK_BENCH_RACE_ROWLOCK_CONTENDER_HPP

#include <memory>

#include "race/protocol.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::race {

/// Through lock_table: leases are kept, waiters are woken.
contender_factory through_lock_table(std::unique_ptr<store> rows, lock_options options);
/// Through the store port alone: what the keeping of leases costs is the difference. Does not wait.
contender_factory through_the_port(std::unique_ptr<store> rows);

}  // namespace rowlock::race

#endif
