// The check whether a MariaDB or MySQL table is fit for locks.
#include "mysql/table_check.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "mysql/errors.hpp"
#include "mysql/sql/session.hpp"
#include "rowlock/error.hpp"
#include "store/found_columns.hpp"
#include "store/names.hpp"
#include "store/schema_check.hpp"

namespace rowlock::mysql {

namespace {

struct needed_column {
  std::string_view name;
  std::string_view type;
  std::string_view collation;
  bool takes_null;
};

/// The columns that mutual exclusion depends on. (The type is `bigint` in MySQL, `bigint(20)` in
/// MariaDB.)
constexpr std::array<needed_column, 7> needed_columns{{
    {"lock_type", "varchar(135)", "ascii_bin", false},
    {"source_id", "varbinary(256)", "", false},
    {"version", "bigint", "", false},
    {"owner", "varchar(33)", "ascii_bin", true},
    {"expires_at", "datetime(6)", "", false},
    {"done_until", "datetime(6)", "", false},
    {"fence_count", "bigint", "", false},
}};

constexpr unsigned no_privilege = 1142;
constexpr unsigned no_such_table = 1146;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

using detail::unfitness;

/// One row of the result of `shape`.
struct part {
  explicit part(const result_set::row& row)
      : what{row.at(0).value_or("")},
        name{lower(row.at(1).value_or(""))},
        type{lower(row.at(2).value_or(""))},
        collation{row.at(3).value_or("")},
        takes_null{row.at(4).value_or("") == "YES"} {}

  std::string what;
  std::string name;
  std::string type;
  std::string collation;
  bool takes_null;
};

/// Empty if there is no such table.
std::vector<part> shape_of(connection& session, detail::rendered_sql& texts,
                           const table_name& table) {
  const auto name = detail::parts_of(table.text());
  const auto database =
      name.schema ? name.schema : session.execute(sql::current_database).rows.at(0).at(0);
  if (!database) {
    throw error{errc::rejected,
                "the connection has no database: name one in the connection string, or in the name "
                "of the table"};
  }
  const auto result = session.execute(
      texts(sql::shape), {bound_value::utf8(*database), bound_value::utf8(name.table)});
  std::vector<part> parts;
  for (const auto& row : result.rows) parts.emplace_back(row);
  return parts;
}

/// What differs from the migrations; only the first finding, none if nothing does.
std::optional<unfitness> unfitness_in_kind(const std::vector<part>& shape,
                                           const table_name& table) {
  std::string key;
  for (const auto& each : shape) {
    if (each.what == "table" && each.name == "view") {
      return unfitness{"is a view, not a table", detail::drop_and_make_anew(table)};
    }
    if (each.what == "table" && each.type != "innodb") {
      return unfitness{"is not of the engine InnoDB, so that it has no row locks"};
    }
    // If only a prefix of a column is in the key, the type is its length.
    if (each.what == "key") key += each.name + each.type + ',';
  }
  if (key == "lock_type,source_id,") return std::nullopt;
  return unfitness{"has no primary key on (lock_type, source_id), so that a key may have two rows"};
}

const part* column_of(const std::vector<part>& shape, std::string_view name) {
  const auto found = std::find_if(shape.begin(), shape.end(), [&](const part& each) {
    return each.what == "column" && each.name == name;
  });
  return found == shape.end() ? nullptr : &*found;
}

std::optional<unfitness> unfitness_in_columns(const std::vector<part>& shape) {
  for (const auto& needed : needed_columns) {
    const std::string name{needed.name};
    const part* const found = column_of(shape, needed.name);
    if (found == nullptr) return unfitness{"has no column " + name};
    if (!found->type.starts_with(needed.type) || found->type.ends_with("unsigned")) {
      return unfitness{"has another type of column " + name + " than " + std::string{needed.type}};
    }
    if (found->collation != needed.collation) {
      return unfitness{"has another collation of column " + name + " than " +
                       std::string{needed.collation} + ", so that different keys may be one"};
    }
    if (found->takes_null != needed.takes_null) {
      return unfitness{std::string{"takes "} + (needed.takes_null ? "no " : "") +
                       "NULL in column " + name};
    }
  }
  for (const auto& name : detail::row_columns) {
    if (detail::is_computed(name)) continue;
    if (column_of(shape, name) == nullptr) return unfitness{"has no column " + std::string{name}};
  }
  return std::nullopt;
}

void check_shape(const std::vector<part>& shape, std::optional<int> number,
                 const table_name& table) {
  auto found = unfitness_in_kind(shape, table);
  if (!found) found = unfitness_in_columns(shape);
  if (!found) return;
  if (!number) detail::throw_unknown(table, *found);
  detail::throw_unfit(table, *found);
}

/// None if the server returns this error.
std::optional<result_set> unless(connection& session, const std::string& sql,
                                 unsigned error_number) {
  try {
    return session.execute(sql);
  } catch (const std::exception& thrown) {
    if (error_number_of(thrown) != error_number) throw;
    return std::nullopt;
  }
}

/// `information_schema` shows the permanent table, even if a temporary one hides it from this
/// session. A user with privileges on columns alone may not read the definition: then this is not
/// checked.
void check_that_none_hides_it(connection& session, detail::rendered_sql& texts,
                              const table_name& table) {
  const auto result = unless(session, texts(sql::definition), no_privilege);
  if (result && result->rows.at(0).at(1).value_or("").starts_with("CREATE TEMPORARY")) {
    detail::throw_unfit(table, {"is a temporary table of this session, which no other sees",
                                "drop it, or give the store sessions without it"});
  }
}

void check_once(connection& session, detail::rendered_sql& texts, const table_name& table) {
  const auto number = schema_version(session, texts, table);
  const auto shape = shape_of(session, texts, table);
  if (!number && !shape.empty()) check_shape(shape, number, table);
  detail::check_schema(number, mysql_migrations(table), table, detail::some_url);
  check_shape(shape, number, table);
  check_that_none_hides_it(session, texts, table);
}

}  // namespace

std::optional<int> schema_version(connection& session, detail::rendered_sql& texts,
                                  const table_name& table) {
  const auto result = unless(session, texts(sql::schema_version), no_such_table);
  if (!result) return std::nullopt;
  const int number = std::stoi(result->rows.at(0).at(0).value());
  if (number > 0 && !unless(session, texts(sql::find_table), no_such_table)) {
    detail::throw_without_table(table, texts(sql::drop_companions));
  }
  return number;
}

void check_table(connection& session, detail::rendered_sql& texts, const table_name& table) {
  try {
    check_once(session, texts, table);
  } catch (const error&) {
    // A table that is altered or dropped meanwhile may be seen in parts, so the second read counts.
    check_once(session, texts, table);
  }
}

void check_table_if_there(connection& session, detail::rendered_sql& texts,
                          std::optional<int> number, const table_name& table) {
  const auto shape = shape_of(session, texts, table);
  if (!shape.empty()) check_shape(shape, number, table);
}

}  // namespace rowlock::mysql
