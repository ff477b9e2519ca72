// Brings a PostgreSQL database to the schema version of this library.
#ifndef ROWLOCK_POSTGRES_MIGRATE_HPP
#define ROWLOCK_POSTGRES_MIGRATE_HPP

#include <string>
#include <vector>

#include "rowlock/migration.hpp"

namespace rowlock {

/// Applies what is missing, in one transaction, and returns it; nothing the second time. Any number
/// of processes may call it at once. Throws `error`: rejected also for a schema newer than ours.
std::vector<migration> migrate_postgres(const std::string& connection_string,
                                        const table_name& table = {});

}  // namespace rowlock

#endif
