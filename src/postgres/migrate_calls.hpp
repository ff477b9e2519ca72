// Brings a PostgreSQL database to the schema version of this library.
#ifndef ROWLOCK_POSTGRES_MIGRATE_CALLS_HPP
#define ROWLOCK_POSTGRES_MIGRATE_CALLS_HPP

#include <vector>

#include "postgres/connection.hpp"
#include "rowlock/migration.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::postgres {

/// Applies what is missing, in a transaction that has just begun and that the caller commits; what
/// was applied. Throws `error` and what the driver throws.
std::vector<migration> migrate(transaction_line& used, const table_name& table);

}  // namespace rowlock::postgres

#endif
