// Many keys at once, through the store port and through lock_table.
#ifndef ROWLOCK_BENCH_RACE_BATCHES_HPP
#define ROWLOCK_BENCH_RACE_BATCHES_HPP

#include <string>

#include "race/protocol.hpp"

namespace rowlock::race {

// Instead of one key, each thread has `place::batch` keys of its own. None of these waits.

/// Takes all in one call of the port, and gives them back in one.
protocol batch_on_postgres(std::string name);
/// Has all, and renews them in one call each time it is told to take them.
protocol renewal_on_postgres(std::string name);
/// The limit of that: a plain UPDATE of the same rows, by whatever plan.
protocol bare_renewal(std::string name);
/// Has all as leases of a lock_table, whose statements are then counted; to take is to look every
/// tenth of a second whether they are valid. They are renewed every two seconds.
protocol kept_on_postgres(std::string name);

}  // namespace rowlock::race

#endif
