// Ends of statements, for clients and tools that would cut a trigger at the semicolons within it.
#ifndef ROWLOCK_CLI_STATEMENT_ENDS_HPP
#define ROWLOCK_CLI_STATEMENT_ENDS_HPP

#include <string>

namespace rowlock::cli {

/// `sql` of a migration as the clients of MariaDB and MySQL read it: with DELIMITER around
/// triggers.
std::string for_clients(std::string sql);

/// `sql` of a migration with `//` on a line of its own after each statement, instead of the
/// semicolon.
std::string with_delimiter_lines(const std::string& sql);

}  // namespace rowlock::cli

#endif
