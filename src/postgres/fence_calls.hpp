// Fences on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_FENCE_CALLS_HPP
#define ROWLOCK_POSTGRES_FENCE_CALLS_HPP

#include <span>
#include <string>

#include "postgres/connection.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/store.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::postgres {

/// Whether to tell the name of the transaction, for one who may have to ask about its commit.
enum class naming { unwanted, wanted };

struct proof {
  detail::fence_proof of_rows;
  /// Where it is held and the name is wanted.
  std::string name;
};

/// Tries for a moment to fence the transaction, and to write `releases` into the rows: one for each
/// of the leases in their order, or none, and then the rows stay. Where the leases are not held the
/// caller has to end it. Throws `error`, and the driver's exception of a conflict.
proof prove(transaction_line& used, const fenced_leases& leases, const fence_options& options,
            std::span<const release_request> releases, naming name, const table_name& table);

}  // namespace rowlock::postgres

#endif
