// Row locks, versions and proofs in the caller's transaction.
#ifndef ROWLOCK_SQLITE_TRANSACTION_HPP
#define ROWLOCK_SQLITE_TRANSACTION_HPP

#include <cstdint>
#include <span>

#include "rowlock/fence.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/table_name.hpp"

struct sqlite3;

namespace rowlock::sqlite {

// The functions of the same names in rowlock/sqlite.hpp, for any driver. They check the transaction
// (misuse), and throw `failure` if SQLite fails.

outcome<row_lock> lock_rows(sqlite3* transaction, const lock_keys& keys, const table_name& table);

outcome<version> read_version(sqlite3* transaction, const lock_key& key, const table_name& table);

commit_result try_commit(sqlite3* transaction, const lock_key& key, version seen,
                         const table_name& table);

/// The remedy for a missing table or column of the application.
inline constexpr const char* compare_the_names =
    "compare the names that were given for the table with the schema";

outcome<void> lock_entity(sqlite3* transaction, const entity_table& table, const row_id& id);

outcome<std::int64_t> read_version(sqlite3* transaction, const versioned_table& table,
                                   const row_id& id);

commit_result try_commit(sqlite3* transaction, const versioned_table& table, const row_id& id,
                         std::int64_t seen);

/// If a lease is not held, the caller must roll back. `releases` are of the same leases, or none:
/// then the rows stay as they are.
detail::fence_proof prove(sqlite3* transaction, const fenced_leases& leases,
                          std::span<const release_request> releases, const table_name& table);

}  // namespace rowlock::sqlite

#endif
