// How a text is written for a lock table on PostgreSQL.
#ifndef ROWLOCK_POSTGRES_SQL_SPELLING_HPP
#define ROWLOCK_POSTGRES_SQL_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/rendered_sql.hpp"

namespace rowlock::postgres::sql {

/// `text` for this table. Throws `error` (misuse) for a clock_skew that cannot be. The words:
///   {long_ago}       the time by which a lease must have run out before another owner is granted
///                    the row: now, or as long ago as clocks may differ
///   {skew_ms}        that difference
///   {now_us}         the clock, in microseconds since 1970
///   {row}            of a row `l` that is locked: its place in the table, and its key
///   {same_row}       whether a row `l` is the one that `k` has as {row}
///   {as_released}    what a release sets in a row `l`, as `k` says: `stay_closed`, and `done_for`
///                    or null, in microseconds
///   {announcement}   notifies waiters for the row `l` of its release, if it is watched
///   {taking}         notifies them of its grant; of the row that is written, without a name
///   {gate_of_m}      what an insert of a missing row must pass: true for one transaction at a
///                    time, and while no call that creates many rows may be creating this one; the
///                    key is that of a row `m`
///   {gate_of_parameters}  the same for the key $1, $2
/// and the parts that stand beside the texts themselves.
std::string rendered(const postgres_table& table, std::string_view text,
                     bool asynchronous_release = false);

/// The texts of `table`, which outlives it. `asynchronous_release`: the end of a lease does not
/// wait for the disk.
detail::rendered_sql texts_of(const postgres_table& table, bool asynchronous_release = false);

}  // namespace rowlock::postgres::sql

#endif
