// How a text is written for MariaDB, and how for MySQL.
#ifndef ROWLOCK_MYSQL_SQL_SPELLING_HPP
#define ROWLOCK_MYSQL_SQL_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/row_lock.hpp"
#include "rowlock/table_name.hpp"
#include "store/rendered_sql.hpp"

namespace rowlock::mysql::sql {

/// Both understand almost all texts.
enum class flavour { mariadb, mysql };

/// `text` for this table. The words:
///   {no_wait}      for a session of the application, which waits for row locks: this statement
///                  does not. MySQL has no such thing: there a SELECT that skips locked rows locks
///                  them before
///   {skip_locked}  the same for a statement with SKIP LOCKED
///   {for_update}, {for_share}  locks the rows of `l`
///   {lock_shown}   locks the row of `l` in the weakest mode that meets each lock on it
///   {isolation}, {clustered}   of the session
///   {read}, {insert_unowned}, {prepare_many}  the texts of these names
std::string rendered(const table_name& table, flavour server, std::string_view text);

/// The texts of `table`, which outlives it.
detail::rendered_sql texts_of(const table_name& table, flavour server);

/// The compare-and-set of an optimistic commit, for a $1 that is a text: a text that is no number
/// would be taken for 0 where the column is one. Throws `error` (misuse) for names that are not
/// allowed.
std::string versioned_update(const versioned_table& table, flavour server);

}  // namespace rowlock::mysql::sql

#endif
