// The rendering of SQL texts for MariaDB or MySQL.
#ifndef ROWLOCK_MYSQL_SQL_SPELLING_HPP
#define ROWLOCK_MYSQL_SQL_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/row_lock.hpp"
#include "rowlock/table_name.hpp"
#include "store/rendered_sql.hpp"

namespace rowlock::mysql::sql {

/// The two servers; both understand almost all texts.
enum class flavour { mariadb, mysql };

/// Renders `text` for this table. Its placeholders:
///   {no_wait}      in a session of the application, which waits for row locks: this statement does
///                  not wait. MySQL has no such option: there a SELECT that skips locked rows locks
///                  the rows first
///   {skip_locked}  the same for a statement with SKIP LOCKED
///   {for_update}, {for_share}  locks the rows of `l`
///   {lock_shown}   locks the row of `l` in the weakest mode that conflicts with each lock on it
///   {isolation}, {clustered}   settings of the session
///   {columns}, {read}, {insert_unowned}, {prepare_many}  the texts of these names
std::string rendered(const table_name& table, flavour server, std::string_view text);

/// The texts of `table`, which must outlive them.
detail::rendered_sql texts_of(const table_name& table, flavour server);

/// The compare-and-set of an optimistic commit, for a $1 that is a text. Where the column is a
/// number, a text that is not one would be compared as 0. Throws `error` (misuse) for names that
/// are not allowed.
std::string versioned_update(const versioned_table& table, flavour server);

}  // namespace rowlock::mysql::sql

#endif
