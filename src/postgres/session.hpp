// A session of a store on PostgreSQL, whatever driver.
#ifndef ROWLOCK_POSTGRES_SESSION_HPP
#define ROWLOCK_POSTGRES_SESSION_HPP

#include <memory>

#include "postgres/connection.hpp"
#include "postgres/sql/statements.hpp"
#include "rowlock/table_name.hpp"
#include "store/session.hpp"

namespace rowlock::postgres {

/// Whether `read_mode::watched` marks rows, so that their release is announced.
enum class watching { marks_rows, only_reads };

/// `used` is in autocommit. `statements` and `table` outlive the session.
std::unique_ptr<detail::session> make_session(std::unique_ptr<own_line> used,
                                              const sql::postgres_statements& statements,
                                              const table_name& table, watching mode);

}  // namespace rowlock::postgres

#endif
