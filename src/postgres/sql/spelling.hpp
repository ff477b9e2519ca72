// How a statement is written for a lock table on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_SQL_SPELLING_HPP
#define ROWLOCK_POSTGRES_SQL_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// Puts `meaning` wherever `word` stands in `sql`.
void fill(std::string& sql, std::string_view word, std::string_view meaning);

/// `sql` with `{gate}` as what an insert of a missing row must pass: true for one transaction at a
/// time, and while no call that creates many rows may be creating this one. `type` and `id` name
/// the key in `sql`.
std::string gated(std::string_view sql, std::string_view type, std::string_view id);

/// `sql` for this table, in which these words have a meaning:
///   {long_ago}      the time by which a lease must have run out before anybody else may have the
///                   row: now, or as long ago as clocks may differ
///   {skew_ms}       that difference
///   {now_us}        what the clock says, in microseconds since 1970
///   {row}           of a row `l` that is locked: its place in the table, and its key
///   {same_row}      whether a row `l` is the one that `k` has as {row}
///   {as_released}   what a release sets in a row `l`, as `k` says: `stay_closed`, and `done_for`
///   or
///                   null, in microseconds
///   {announcement}  tells those who wait for the row `l` of its release, if anybody does
///   {taking}        tells them of its grant; of the row that is written, without a name
std::string in_postgres(const postgres_table& table, std::string_view sql);

}  // namespace rowlock::sql

#endif
