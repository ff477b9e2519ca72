// What the error numbers of MariaDB and MySQL mean: the one error map.
#ifndef ROWLOCK_MYSQL_ERRORS_HPP
#define ROWLOCK_MYSQL_ERRORS_HPP

#include <exception>
#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/effects.hpp"

namespace rowlock::mysql {

/// What the server or the client library said, where that cannot hold a value of a statement.
std::string shown_text(unsigned number, std::string_view said);

/// Of SOCI's exceptions; zero for others.
unsigned error_number_of(const std::exception& thrown) noexcept;

/// The user may not do this with the table, or with its database.
bool is_missing_privilege(unsigned number) noexcept;
/// The server has rolled the transaction back, or the connection is gone.
bool ends_the_transaction(unsigned number) noexcept;
/// The connection ended before the answer came. (2026, an error of TLS, is how an encrypted one
/// ends.)
bool is_lost_connection(unsigned number) noexcept;
/// The next call needs another connection: this one is lost, or leads to a server that cannot
/// write.
bool needs_new_connection(unsigned number) noexcept;
/// 1213, 1020, 3101: a concurrent transaction won, and the server has rolled this one back.
bool is_conflict(const std::exception& thrown);
/// A conflict, a row lock that could not be had at once (1205, 3572), or a row that somebody else
/// inserted first (1062).
bool is_contention(const std::exception& thrown) noexcept;

/// A number of the statement is out of range: what the statement did is undone.
bool is_overflow(unsigned number) noexcept;

using detail::effects;

/// Called while an exception is being handled: throws the `error` it means. Of SOCI's exceptions
/// only ours are nested, which hold no statement. An `error` passes through. `lock_table` is none
/// where the statement was about a table of the application.
[[noreturn]] void throw_as_error(effects had, const table_name* lock_table);
/// The same for a COMMIT: a conflict passes through, and a lost answer is outcome_unknown.
[[noreturn]] void throw_failed_commit();

}  // namespace rowlock::mysql

#endif
