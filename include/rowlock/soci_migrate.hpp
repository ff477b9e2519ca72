// Brings a database that SOCI connects to to the schema version of this library.
#ifndef ROWLOCK_SOCI_MIGRATE_HPP
#define ROWLOCK_SOCI_MIGRATE_HPP

#include <string>
#include <vector>

#include "rowlock/migration.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock {

/// Applies what is missing and returns it; nothing if all is there. Any number of processes may
/// migrate at once. Throws `error`: rejected when the schema is newer than this library, when
/// something else is in the way, when the user may not create tables, and for a backend that is not
/// supported; unavailable.
///
/// On MySQL and MariaDB a CREATE TABLE commits by itself: one that was interrupted is continued by
/// the next call.
std::vector<migration> migrate_soci(const std::string& connection_string,
                                    const table_name& table = {});

/// All steps for the database that the connection string names, in order.
std::vector<migration> soci_migrations(const std::string& connection_string,
                                       const table_name& table = {});

}  // namespace rowlock

#endif
