// Placeholders of statements on a row of the application.
#include "store/entity_sql.hpp"

#include <cstddef>
#include <limits>
#include <variant>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/lock_key.hpp"
#include "store/names.hpp"

namespace rowlock::detail {

namespace {

/// A statement has at most 8 parameters on PostgreSQL, one of them for the version.
constexpr std::size_t most_id_columns = 7;

void check_parts(const column_names& columns, const row_id& id) {
  const auto wanted = columns.all().size();
  if (wanted == 0 || wanted > most_id_columns) {
    throw error{errc::misuse, "id_column names " + std::to_string(wanted) + " columns: name 1 to " +
                                  std::to_string(most_id_columns)};
  }
  for (const auto& part : id.parts()) {
    const auto* text = std::get_if<std::string>(&part);
    if (text != nullptr && text->find('\0') != std::string::npos) {
      throw error{errc::misuse, "the id has a NUL byte: databases cannot store it"};
    }
  }
  if (wanted == id.parts().size()) return;
  throw error{errc::misuse, "id_column names " + std::to_string(wanted) +
                                " column(s), but the id has " + std::to_string(id.parts().size()) +
                                " part(s): give one for each column, in their order"};
}

/// Whether it is an integer as a database shows it.
bool is_integer(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.starts_with('0')) return text.size() == 1 && !is_negative;
  constexpr std::size_t most_digits = 20;
  return !text.empty() && text.size() <= most_digits &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

sql_words words_for(const entity_table& table, const row_id& id, const entity_spelling& spelling) {
  check_parts(table.id_column, id);
  const std::string prefix{spelling.parameter};
  std::string same_id;
  std::size_t place = 0;
  for (const auto& name : table.id_column.all()) {
    const auto parameter = prefix + std::to_string(++place);
    // The alias is needed: SQLite reads a lone "name" as a string if there is no such column.
    const auto column = "entity." + quoted(name, "the id column");
    const auto value = text_of(id.parts()[place - 1]);
    if (!same_id.empty()) same_id += " AND ";
    same_id += with_words(is_integer(value) ? spelling.same_integer : spelling.same_text,
                          {{"column", column}, {"parameter", parameter}, {"integer", value}});
  }
  return {{"entities", quoted_with_schema(table.table, "the application's table")},
          {"same_id", same_id},
          {"seen", prefix + std::to_string(place + 1)}};
}

sql_words words_for(const versioned_table& table, const row_id& id,
                    const entity_spelling& spelling) {
  auto words = words_for(entity_table{table.table, table.id_column}, id, spelling);
  words.emplace("version", quoted(table.version_column, "the version column"));
  return words;
}

std::string text_of(const row_id::part& part) {
  if (const auto* number = std::get_if<std::int64_t>(&part)) return std::to_string(*number);
  return std::get<std::string>(part);
}

void check_next(const versioned_table& table, std::int64_t seen) {
  constexpr std::int64_t last_us = 253'402'300'799'999'999;  // 9999-12-31 23:59:59.999999
  const bool is_time = table.version_is == version_kind::timestamp;
  if (seen < (is_time ? last_us : std::numeric_limits<std::int64_t>::max())) return;
  throw error{errc::misuse, "no version of column " + table.version_column + " of table " +
                                table.table + " could follow " + std::to_string(seen) +
                                ": pass what read_version returned"};
}

void require_moved(const versioned_table& table, std::int64_t seen,
                   std::optional<std::int64_t> now) {
  if (now.value_or(seen) > seen) return;
  throw error{
      errc::rejected,
      "column " + table.version_column + " of table " + table.table +
          " does not have the version that was written into it, so two versions could be the "
          "same: give it a type that keeps it (see version_kind), and let no trigger set "
          "it"};
}

refusal refused_entity(refusal_reason reason, const std::string& table, const row_id& id) {
  std::vector<std::string> parts;
  for (const auto& part : id.parts()) parts.push_back(text_of(part));
  return {.reason = reason, .key = {.type = table, .source_id = source_id_of(parts)}};
}

void throw_no_version(const versioned_table& table) {
  throw error{errc::rejected, "column " + table.version_column + " of table " + table.table +
                                  " has no value that is a version: see version_kind, and fill it"};
}

}  // namespace rowlock::detail
