// Fences on PostgreSQL.
#ifndef ROWLOCK_DIALECTS_POSTGRES_FENCE_CALLS_HPP
#define ROWLOCK_DIALECTS_POSTGRES_FENCE_CALLS_HPP

#include <string>

#include "dialects/postgres/line.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::postgres {

/// Whether to tell the name of the transaction, for one who may have to ask about its commit.
enum class naming { unwanted, wanted };

// What the public headers of the drivers promise of the functions of these names. They answer the
// transaction's name, or nothing where it is not wanted.

std::string fence(transaction_line& used, const fenced_leases& leases, const fence_options& options,
                  naming name, const table_name& table);
std::string release_with(transaction_line& used, const fenced_leases& leases, naming name,
                         const table_name& table);

}  // namespace rowlock::postgres

#endif
