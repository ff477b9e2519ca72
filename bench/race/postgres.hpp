// The lock table of this library, on PostgreSQL.
#ifndef ROWLOCK_BENCH_RACE_POSTGRES_HPP
#define ROWLOCK_BENCH_RACE_POSTGRES_HPP

#include <memory>

#include "race/protocol.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::race {

table_name lock_table_in(const place& where);
std::unique_ptr<store> store_in(const place& where);
/// With rows for all keys of the measurement.
void build_lock_table(const place& where, history_option history = history_option::unchanged);

}  // namespace rowlock::race

#endif
