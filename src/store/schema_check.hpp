// The check of a database's schema version.
#ifndef ROWLOCK_STORE_SCHEMA_CHECK_HPP
#define ROWLOCK_STORE_SCHEMA_CHECK_HPP

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/detail/export.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::detail {

/// Placeholder for a database's URL in messages: a URL may hold a password.
inline constexpr const char* some_url = "<URL>";

/// How a table differs from what its migrations make, as in "has no column owner".
struct unfitness {
  std::string what;
  /// If empty, the table is to be made anew.
  std::string remedy = {};
};

/// Returns "run `rowlock migrate WHERE`", with the table's name if it is not the default. `where`
/// is the database.
ROWLOCK_EXPORT std::string how_to_migrate(const std::string& where, const table_name& table);

/// Throws `error` (rejected) unless the last applied migration is the last one that this library
/// knows. `found` is its number; none if there is no table.
ROWLOCK_EXPORT void check_schema(std::optional<int> found, std::span<const migration> known,
                                 const table_name& table, const std::string& where);

/// Throws `error` (rejected): the lock table was dropped, but not its companions, which record it
/// as present. `remedy` is the SQL that drops them.
[[noreturn]] ROWLOCK_EXPORT void throw_without_table(const table_name& table,
                                                     const std::string& remedy);

/// Throws `error` (rejected): the table exists, but the record of its migrations does not.
[[noreturn]] ROWLOCK_EXPORT void throw_without_record(const table_name& table);

/// Throws `error` (rejected): the table differs from what its migrations make, so the guarantees
/// would not hold. The message is "table T WHAT: REMEDY".
[[noreturn]] ROWLOCK_EXPORT void throw_unfit(const table_name& table, const unfitness& found);

/// Throws `error` (rejected): the table has no record of migrations, and differs from what they
/// make. It may be another program's.
[[noreturn]] ROWLOCK_EXPORT void throw_unknown(const table_name& table, const unfitness& found);

/// The remedy for what is no table, or another kind of one.
ROWLOCK_EXPORT std::string drop_and_make_anew(const table_name& table);

/// Called while an exception is handled, which is nested. Throws `error` (rejected): what has the
/// name of the history's table does not take its events.
[[noreturn]] ROWLOCK_EXPORT void throw_other_event_table(const table_name& table);

/// The migrations of `known` that are not applied yet. Throws `error` (rejected) if `found` is
/// newer.
ROWLOCK_EXPORT std::vector<migration> missing_migrations(std::optional<int> found,
                                                         std::span<const migration> known,
                                                         const table_name& table);

}  // namespace rowlock::detail

#endif
