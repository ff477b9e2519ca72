// The mapping of MariaDB and MySQL error numbers to errors.
#ifndef ROWLOCK_MYSQL_ERRORS_HPP
#define ROWLOCK_MYSQL_ERRORS_HPP

#include <soci/mysql/soci-mysql.h>

#include <exception>
#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/session.hpp"

namespace rowlock::mysql {

/// The text of the server or the client library, if it cannot hold a value of a statement.
std::string shown_text(unsigned number, std::string_view said);

/// A missing privilege of another account than that of the connection: of one that made a trigger.
class denied_to_another : public ::soci::mysql_soci_error {
 public:
  using ::soci::mysql_soci_error::mysql_soci_error;
};

/// Throws the `soci::mysql_soci_error`, without the values in the server's text. `user` is that of
/// the connection.
[[noreturn]] void throw_driver_error(unsigned number, std::string_view said, const char* user);

/// The limit that is reached, and what to do: of the user (1203, 1226) or the server (1040). Empty
/// for other errors. `said` is the server's text.
std::string reached_limit(unsigned number, std::string_view said);

/// The error number of SOCI's exceptions; zero for others.
unsigned error_number_of(const std::exception& thrown) noexcept;

/// The user lacks a privilege on the table, or on its database.
bool is_missing_privilege(unsigned number) noexcept;
/// The server has rolled the transaction back, or the connection is gone. `said` is its text.
bool ends_the_transaction(unsigned number, std::string_view said) noexcept;
/// The connection ended before the answer came. (2026, a TLS error, is how an encrypted connection
/// ends.)
bool is_lost_connection(unsigned number) noexcept;
/// The next call needs another connection: this one is lost, or leads to a server that cannot
/// write.
bool needs_new_connection(unsigned number) noexcept;
/// 1213, 1020, 3101, and 1180 with 149 in its text, a lost certification: a concurrent transaction
/// won, and the server has rolled this one back.
bool is_conflict(const std::exception& thrown) noexcept;
/// 1213: of the conflicts, the one in which transactions waited for each other.
bool is_deadlock(const std::exception& thrown) noexcept;
/// A conflict, a row lock that was not free at once (1205, 3572), or, if `statement` creates rows,
/// one that another transaction inserted first (1062: elsewhere it is an error of a trigger's own
/// statement, and would come again).
bool is_contention(const std::exception& thrown, std::string_view statement) noexcept;

/// The same statement would be refused again, and not for want of a privilege.
bool is_refusal(unsigned number);
/// 1317, 1969, 3024: the server ended the statement because it took too long or was killed.
bool is_interruption(unsigned number) noexcept;

/// 1217, 1451, 1644: the row may not be deleted, because another table refers to it, or a trigger
/// refuses. The changes of the statement are undone.
bool is_kept_by_another(unsigned number) noexcept;

/// A number in the statement is out of range: the changes of the statement are undone.
bool is_overflow(unsigned number) noexcept;

using detail::effects;

/// Called while an exception is handled. Throws the `error` it means. Of SOCI's exceptions only
/// rowlock's own are nested, which hold no statement. An `error` passes through. `lock_table` is
/// none if the statement was about a table of the application.
[[noreturn]] void throw_as_error(effects had, const table_name* lock_table);
/// The same for a COMMIT: a conflict passes through, and a lost answer is outcome_unknown.
[[noreturn]] void throw_failed_commit();

}  // namespace rowlock::mysql

#endif
