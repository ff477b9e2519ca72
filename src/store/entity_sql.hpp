// Placeholders of statements on a row of the application.
#ifndef ROWLOCK_STORE_ENTITY_SQL_HPP
#define ROWLOCK_STORE_ENTITY_SQL_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/reported.hpp"
#include "rowlock/detail/export.hpp"
#include "rowlock/entity.hpp"
#include "rowlock/outcome.hpp"
#include "store/rendered_sql.hpp"

namespace rowlock::detail {

/// How a database names parameters, and compares the part of an id with a column. In the texts
/// `{column}` and `{parameter}` are replaced, and `{integer}` by the digits of an integer.
struct entity_spelling {
  /// Before the number of a parameter: `$1`, `?1`.
  std::string_view parameter = "$";
  std::string_view same_text = "{column} = {parameter}";
  std::string_view same_integer = same_text;
};

/// Replacements for `{entities}` (the table), `{same_id}` (compares the id's columns of the alias
/// `entity` with the first parameters), `{version}` (the version column) and `{seen}` (the
/// parameter behind those of the id). Throws `error` (misuse) for a name that is not allowed, and
/// for an id that does not have one part for each column.
ROWLOCK_EXPORT sql_words words_for(const entity_table& table, const row_id& id,
                                   const entity_spelling& spelling);
ROWLOCK_EXPORT sql_words words_for(const versioned_table& table, const row_id& id,
                                   const entity_spelling& spelling);

/// The part of an id as text, as all drivers bind it.
ROWLOCK_EXPORT std::string text_of(const row_id::part& part);

/// The row in a refusal: the table, and the parts of the id.
ROWLOCK_EXPORT refusal refused_entity(refusal_reason reason, const std::string& table,
                                      const row_id& id);

/// As `reported_lock` and `reported_commit` of keys.
template <class Table, class Call>
auto reported_lock(const Table& table, const row_id& id, const Call& call) {
  const auto key_of = [&] { return refused_entity({}, table.table, id).key; };
  return reported({transaction_work::entity_lock, 1, key_of}, call);
}
template <class Table, class Call>
auto reported_commit(const Table& table, const row_id& id, const Call& call) {
  const auto key_of = [&] { return refused_entity({}, table.table, id).key; };
  return reported({transaction_work::optimistic_commit, 1, key_of}, call);
}

/// Throws the `error` (misuse) for a version that no other one could follow: a time whose year has
/// four digits, or a number.
ROWLOCK_EXPORT void check_next(const versioned_table& table, std::int64_t seen);

/// Throws the `error` (rejected) for a column that has not moved from `seen`: it did not keep what
/// was written into it.
ROWLOCK_EXPORT void require_moved(const versioned_table& table, std::int64_t seen,
                                  std::optional<std::int64_t> now);

/// Throws the `error` (rejected) for a version column without a value that can be a version.
[[noreturn]] ROWLOCK_EXPORT void throw_no_version(const versioned_table& table);

}  // namespace rowlock::detail

#endif
