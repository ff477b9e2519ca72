// The rendering of SQL texts for MariaDB or MySQL.
#ifndef ROWLOCK_MYSQL_SQL_SPELLING_HPP
#define ROWLOCK_MYSQL_SQL_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/entity_sql.hpp"
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
///   {now_us}       the clock, in microseconds since 1970
///   {next_version}, {next_version_of_l}  the version that a change gives the row
///   {list: ...}    the rows `w` of the JSON array $1. Each begins with `lock_type` and
///   `source_id`,
///                  then has the columns that are named; but `place` is its number, from 1.
///                  `version` is the one that was read; `ttl`, and how long the row stays `closed`
///                  and is remembered as `done` (or 0), are in microseconds; `correlation_id` may
///                  be empty; `failed`, and `is_mine` for a grant that was made before, are 1 or 0
///   {rows: ...}    the same, joined with the rows `l` of their keys
///   {columns}, {read}, {acquire}, {insert_unowned}, {prepare_many}  the texts of these names
std::string rendered(const table_name& table, flavour server, std::string_view text);

/// The texts of `table`, which must outlive them.
detail::rendered_sql texts_of(const table_name& table, flavour server);

/// For ids whose parts are bound as texts. Where the column is a number, a text that is not one
/// would be compared as 0, so the texts are compared as well.
detail::entity_spelling entity_spelling();

/// Renders `text`, about a row of the application, with `words` and those of `rendered`.
std::string on_entity(std::string_view text, detail::sql_words words, flavour server);

}  // namespace rowlock::mysql::sql

#endif
