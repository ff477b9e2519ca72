// Whether a table of MariaDB or MySQL is one that rowlock's locks can live in.
#include "soci/mysql_table_check.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <string>
#include <string_view>

#include "rowlock/error.hpp"
#include "rowlock/migration.hpp"
#include "soci/mysql_errors.hpp"
#include "sql/schema_check.hpp"

namespace rowlock::through_soci {

namespace {

struct column_type {
  std::string_view name;
  std::string_view type;
  std::string_view collation;
};

/// Those on which exclusion depends. (MySQL says `bigint`, MariaDB `bigint(20)`.)
constexpr std::array<column_type, 6> needed_columns{{
    {"lock_type", "varchar(134)", "ascii_bin"},
    {"source_id", "varbinary(255)", ""},
    {"version", "bigint", ""},
    {"owner", "varchar(32)", "ascii_bin"},
    {"expires_at", "datetime(6)", ""},
    {"done_until", "datetime(6)", ""},
}};

constexpr unsigned no_such_table = 1146;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

[[noreturn]] void refuse(const table_name& table, const std::string& what) {
  throw error{errc::rejected,
              "table " + table.text() + " " + what +
                  ": make it with the migrations of rowlock, and do not convert it"};
}

mysql_answer columns_of(mysql_session& session, const sql::mysql_statements& statements,
                        const table_name& table) {
  const auto& text = table.text();
  const auto dot = text.find('.');
  const auto database = dot == std::string::npos
                            ? session.execute(sql::mysql::current_database).rows.at(0).at(0)
                            : std::optional{text.substr(0, dot)};
  if (!database) {
    throw error{errc::rejected,
                "the connection has no database: name one in the connection string, or in the name "
                "of the table"};
  }
  return session.execute(statements.columns,
                         {mysql_value::utf8(*database),
                          mysql_value::utf8(text.substr(dot == std::string::npos ? 0 : dot + 1))});
}

void check_columns(const mysql_answer& found, const table_name& table) {
  const auto primary_key =
      found.rows.empty() ? std::string{} : found.rows.front().at(4).value_or("");
  if (!found.rows.empty() && lower(primary_key) != "lock_type,source_id") {
    refuse(table,
           "has not the primary key (lock_type, source_id), so that a key may have two rows");
  }
  for (const auto& needed : needed_columns) {
    const auto is_it = [&](const mysql_answer::row& row) {
      return lower(row.at(1).value_or("")) == needed.name;
    };
    const auto row = std::find_if(found.rows.begin(), found.rows.end(), is_it);
    const std::string name{needed.name};
    if (row == found.rows.end()) refuse(table, "has no column " + name);
    if (lower(row->at(0).value_or("")) != "innodb") {
      refuse(table, "is not of the engine InnoDB, so that it has no row locks");
    }
    const auto type = lower(row->at(2).value_or(""));
    if (!type.starts_with(needed.type) || type.find("unsigned") != std::string::npos) {
      refuse(table, "has another type of column " + name + " than " + std::string{needed.type});
    }
    if (row->at(3).value_or("") != needed.collation) {
      refuse(table, "has another collation of column " + name + " than " +
                        std::string{needed.collation} + ", so that different keys may be one");
    }
  }
}

/// None where there is no such table.
std::optional<mysql_answer> if_there(mysql_session& session, const std::string& sql) {
  try {
    return session.execute(sql);
  } catch (const std::exception& thrown) {
    if (error_number_of(thrown) != no_such_table) throw;
    return std::nullopt;
  }
}

}  // namespace

std::optional<int> schema_version(mysql_session& session, const sql::mysql_statements& statements,
                                  const table_name& table) {
  const auto answered = if_there(session, statements.schema_version);
  if (!answered) return std::nullopt;
  const int number = std::stoi(answered->rows.at(0).at(0).value());
  if (number > 0 && !if_there(session, statements.look_for_table)) {
    sql::throw_without_table(table, statements.drop_companions);
  }
  return number;
}

void check_mysql_table(mysql_session& session, const sql::mysql_statements& statements,
                       const table_name& table) {
  sql::check_schema(schema_version(session, statements, table), mysql_migrations(table), table,
                    sql::some_url);
  check_columns(columns_of(session, statements, table), table);
}

void check_mysql_table_if_there(mysql_session& session, const sql::mysql_statements& statements,
                                const table_name& table) {
  const auto found = columns_of(session, statements, table);
  if (!found.rows.empty()) check_columns(found, table);
}

}  // namespace rowlock::through_soci
