// The rendering of SQL texts for a lock table on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_SQL_SPELLING_HPP
#define ROWLOCK_POSTGRES_SQL_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/rendered_sql.hpp"

namespace rowlock::postgres::sql {

/// Renders `text` for this table. Throws `error` (misuse) for an invalid clock_skew. Its
/// placeholders:
///   {long_ago}       the time by which another owner's lease must have ended before the row is
///                    granted: now, minus the difference that clocks may have
///   {skew_ms}        that difference, in milliseconds
///   {now_us}         the clock, in microseconds since 1970
///   {left_us}        how long the lease or closing of the row `l` lasts, in microseconds
///   {next_version}   the version that a change gives the row `l`
///   {at_key}         the row of the key $1, $2
///   {is_unlocked}    true unless another transaction may have locked or changed the row `l`, or
///                    has locked it before, and no write followed
///   {unlocked_lease} the row `l` of the lease $1 to $4, locked, unless another transaction has it
///   {one_place}      true for each request `w`; PostgreSQL expects it to be true for one
///   {row}            of a locked row `l`: its place in the table, and its key
///   {same_row}       whether a row `l` is the row that `k` has as {row}
///   {as_released}    the columns that a release sets in a row `l`; `k` has `stay_closed`, and
///                    `done_for` or null, in microseconds
///   {announcement}   notifies waiters of the release of the row `l`, if it is watched
///   {taking}         notifies them of the grant of the row that is written, if it is watched
///   {gate_of_m}      the condition for inserting a missing row: true for one transaction at
///                    a time, and only while no call that creates many rows may be creating
///                    it; the key is that of a row `m`
///   {gate_of_parameters}  the same for the key $1, $2
///   {policies_of_t}  the commands that row-level security allows the role on the table `t.oid`
/// and the parts that are defined beside the texts.
std::string rendered(const postgres_table& table, std::string_view text);

/// The texts of `table`, which must outlive them.
detail::rendered_sql texts_of(const postgres_table& table);

}  // namespace rowlock::postgres::sql

#endif
