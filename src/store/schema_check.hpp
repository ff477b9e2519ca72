// Whether the schema in a database is the one this library knows.
#ifndef ROWLOCK_STORE_SCHEMA_CHECK_HPP
#define ROWLOCK_STORE_SCHEMA_CHECK_HPP

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rowlock/table_name.hpp"

namespace rowlock::detail {

/// Stands for a database that is not told: its URL may hold a password.
inline constexpr const char* some_url = "<URL>";

/// For a table that is not as its migrations make it.
inline constexpr const char* make_it_anew =
    "make it with the migrations of rowlock, and do not convert it";

/// "run `rowlock migrate WHERE`", with the table's name where it is not the default. `where` stands
/// for the database.
std::string how_to_migrate(const std::string& where, const table_name& table);

/// Throws `error` (rejected) unless `found`, the number of the last applied migration (none: there
/// is no table), is that of the last we know.
void check_schema(std::optional<int> found, std::span<const migration> known,
                  const table_name& table, const std::string& where);

/// Throws `error` (rejected): somebody has dropped the lock table, and not its companions, which
/// say that it is there. `remedy` is the SQL that drops them.
[[noreturn]] void throw_without_table(const table_name& table, const std::string& remedy);

/// Throws `error` (rejected): the table is there, and nothing says which migrations made it.
/// `remedy` is the SQL that says it again.
[[noreturn]] void throw_without_record(const table_name& table, const std::string& remedy);

/// Throws `error` (rejected): the table is not as its migrations make it, so that the promises
/// would not hold. "table T WHAT: REMEDY".
[[noreturn]] void throw_unfit(const table_name& table, const std::string& what,
                              const std::string& remedy = make_it_anew);

/// Those of `known` that are still to be applied. Throws `error` (rejected) when `found` is newer.
std::vector<migration> missing_migrations(std::optional<int> found,
                                          std::span<const migration> known,
                                          const table_name& table);

}  // namespace rowlock::detail

#endif
