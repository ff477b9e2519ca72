// Brings a SQLite file to the schema version of this library.
#ifndef ROWLOCK_SQLITE_MIGRATE_HPP
#define ROWLOCK_SQLITE_MIGRATE_HPP

#include <string>
#include <vector>

#include "rowlock/migration.hpp"

namespace rowlock {

/// Applies what is missing, in one transaction, and returns it; nothing the second time. Creates
/// the file if it does not exist (not its folder) and switches it to WAL. Any number of processes
/// may call it at once. Throws `error`: rejected also for a schema newer than ours.
std::vector<migration> migrate_sqlite(const std::string& path, const table_name& table = {});

}  // namespace rowlock

#endif
