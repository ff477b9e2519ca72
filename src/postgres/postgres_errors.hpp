// What an exception of libpqxx means: the one error map.
#ifndef ROWLOCK_POSTGRES_POSTGRES_ERRORS_HPP
#define ROWLOCK_POSTGRES_POSTGRES_ERRORS_HPP

#include <exception>
#include <string>

#include "rowlock/table_name.hpp"

namespace rowlock::postgres {

/// The SQLSTATE, as far as libpqxx tells it; empty for an exception that has none.
std::string sqlstate_of(const std::exception& thrown);

/// The connection ended before the answer came.
bool is_lost_connection(const std::exception& thrown);

/// The next call needs another connection: this one is lost, or leads to a server that only reads.
bool needs_new_connection(const std::exception& thrown);

/// 40001, 40P01: a concurrent transaction won, run the whole transaction again.
bool is_conflict(const std::exception& thrown);

/// A conflict, or a lock that could not be had in time (55P03).
bool is_contention(const std::exception& thrown);

/// A prepared statement that is not there (26000), or was there already (42P05): there is a pooler
/// between us and the server, or somebody cleans up behind us. The statement did not run.
bool is_prepared_statement_astray(const std::exception& thrown);

/// What the call may have changed when it fails.
enum class effects {
  none,      ///< Nothing: it only read, or what it did ends with its transaction.
  possible,  ///< A statement that writes was sent.
  made,      ///< A part of the call is done.
};

/// Called while an exception is being handled: throws the `error` it means, with the driver's
/// exception nested unless that may show bound values. An `error` passes through. `lock_table` is
/// none where the statement was about a table of the application.
[[noreturn]] void throw_as_error(effects had, const table_name* lock_table);

}  // namespace rowlock::postgres

#endif
