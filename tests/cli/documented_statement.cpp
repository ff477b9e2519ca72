// The statements of docs/sql.md, each executed by a driver of its database.
#include "cli/documented_statement.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

#include <pqxx/pqxx>

#include "cli/database_url.hpp"
#include "support/documented.hpp"
#include "support/mariadb_line.hpp"

namespace rowlock::tests {

namespace {

/// As psql puts its variables into a statement.
statement_answer execute_on_postgres(const std::string& url, std::string sql,
                                     const documented_values& values) {
  pqxx::connection connection{url};
  for (const auto& [name, value] : values) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      sql = with_each(sql, ":'" + name + "'", connection.quote(*text));
    } else {
      sql = with_each(sql, ":" + name, std::to_string(std::get<std::int64_t>(value)));
    }
  }
  pqxx::nontransaction session{connection};
  const auto result = session.exec(sql);
  statement_answer answer;
  answer.changed = static_cast<std::int64_t>(result.affected_rows());
  for (const auto& row : result) {
    for (auto& found = answer.rows.emplace_back(); const auto& field : row) {
      found.push_back(field.is_null() ? std::nullopt : std::optional{field.as<std::string>()});
    }
  }
  return answer;
}

statement_answer execute_on_sqlite(const std::string& path, const std::string& sql,
                                   const documented_values& values) {
  SQLite::Database database{path, SQLite::OPEN_READWRITE, 10'000};
  SQLite::Statement statement{database, sql};
  for (const auto& given : values) {
    const auto place = ":" + given.name;
    if (sql.find(place) == std::string::npos) continue;
    std::visit([&](const auto& value) { statement.bind(place, value); }, given.value);
  }
  statement_answer answer;
  while (statement.executeStep()) {
    auto& row = answer.rows.emplace_back();
    for (int i = 0; i < statement.getColumnCount(); ++i) {
      const auto column = statement.getColumn(i);
      row.push_back(column.isNull() ? std::nullopt : std::optional{column.getString()});
    }
  }
  answer.changed = database.getChanges();
  return answer;
}

statement_answer execute_on_mariadb(const std::string& url, const std::string& sql,
                                    const documented_values& values) {
  mariadb_line line{url};
  line.execute("prepare documented from \"" + sql + "\"");
  std::string names;
  for (const auto& [name, value] : values) {
    const auto place = "@value" + std::to_string(names.size());
    const auto* text = std::get_if<std::string>(&value);
    line.execute(
        "set " + place + " = " +
        (text != nullptr ? "'" + *text + "'" : std::to_string(std::get<std::int64_t>(value))));
    names += (names.empty() ? "" : ", ") + place;
  }
  statement_answer answer;
  const auto execution = "execute documented using " + names;
  if (sql.starts_with("SELECT")) {
    answer.rows = line.rows(execution);
  } else {
    line.execute(execution);
    answer.changed = line.number("select row_count()");
  }
  return answer;
}

}  // namespace

statement_answer execute_documented(const std::string& url, const std::string& sql,
                                    const documented_values& values) {
  const database_url where{url};
  switch (where.which()) {
    case database_url::engine::sqlite:
      return execute_on_sqlite(where.target(), sql, values);
    case database_url::engine::soci:
      return execute_on_mariadb(url, sql, values);
    case database_url::engine::postgresql:
      break;
  }
  return execute_on_postgres(where.target(), sql, values);
}

}  // namespace rowlock::tests
