// This library, on MariaDB through SOCI.
#ifndef ROWLOCK_BENCH_RACE_ROWLOCK_ON_MARIADB_HPP
#define ROWLOCK_BENCH_RACE_ROWLOCK_ON_MARIADB_HPP

#include <string>

#include "race/protocol.hpp"
#include "rowlock/port/batching_store.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::race {

table_name mariadb_table_in(const place& where);
/// With rows for all keys of the measurement.
void build_on_mariadb(const place& where);

protocol rowlock_on_mariadb(std::string name, const batching_options& batching);

}  // namespace rowlock::race

#endif
