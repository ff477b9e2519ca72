// Placeholders of statements on a row of the application.
#ifndef ROWLOCK_STORE_ENTITY_SQL_HPP
#define ROWLOCK_STORE_ENTITY_SQL_HPP

#include <string>
#include <string_view>

#include "base/reported.hpp"
#include "rowlock/entity.hpp"
#include "rowlock/outcome.hpp"
#include "store/rendered_sql.hpp"

namespace rowlock::detail {

/// How a database names parameters, and compares the part of an id with a column.
struct entity_spelling {
  /// Before the number of a parameter: `$1`, `?1`.
  std::string_view parameter = "$";
  /// Of the text of a column, in which `{column}` is replaced. If it is set, a column is compared
  /// with the number too, if the part is digits, and its text with the part otherwise.
  std::string_view text_of_column = {};
};

/// Replacements for `{entities}` (the table), `{same_id}` (compares the id's columns of the alias
/// `entity` with the first parameters), `{version}` (the version column) and `{seen}` (the
/// parameter behind those of the id). Throws `error` (misuse) for a name that is not allowed, and
/// for an id that has not one part for each column.
sql_words words_for(const entity_table& table, const row_id& id, const entity_spelling& spelling);
sql_words words_for(const versioned_table& table, const row_id& id,
                    const entity_spelling& spelling);

/// The part of an id as text, as all drivers bind it.
std::string text_of(const row_id::part& part);

/// The row in a refusal: the table, and the parts of the id.
refusal refused_entity(refusal_reason reason, const std::string& table, const row_id& id);

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

/// Throws the `error` (misuse) for a time behind which there is no other one of four digits for the
/// year.
void check_next_time(const versioned_table& table, std::int64_t seen);

/// Throws the `error` (rejected) for a version column without a value that can be a version.
[[noreturn]] void throw_no_version(const versioned_table& table);

/// Throws the `error` (rejected) for a column that has not the time that was written into it.
[[noreturn]] void throw_lost_time(const versioned_table& table);

}  // namespace rowlock::detail

#endif
