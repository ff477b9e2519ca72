// This library, on PostgreSQL.
#ifndef ROWLOCK_BENCH_RACE_ROWLOCK_ON_POSTGRES_HPP
#define ROWLOCK_BENCH_RACE_ROWLOCK_ON_POSTGRES_HPP

#include <memory>
#include <string>

#include "race/protocol.hpp"
#include "rowlock/port/batching_store.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::race {

table_name lock_table_in(const place& where);
std::unique_ptr<store> store_in(const place& where);
/// With rows for all keys of the measurement, vacuumed and analyzed.
void build_in(const place& where);

/// Through lock_table: leases are kept, waiters are woken.
protocol rowlock_on_postgres(std::string name, const batching_options& batching);
/// The same, with `postgres_options::asynchronous_release`.
protocol rowlock_releasing_asynchronously(std::string name);
/// Through the store port alone: what the keeping of leases costs is the difference. Does not wait.
protocol rowlock_store_on_postgres(std::string name);

}  // namespace rowlock::race

#endif
