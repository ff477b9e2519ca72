// Folders of migrations, as Flyway, Sqitch, golang-migrate, Liquibase and dbmate take them.
#include "cli/migration_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <sstream>

namespace rowlock::cli {

namespace {

/// `path` as one word of a shell's command.
std::string in_shell(const std::string& path) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=-";
  if (path.find_first_not_of(plain) == std::string::npos) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return quoted + '\'';
}

bool is_history(const migration& step) { return step.number == 0; }

/// Among the changes of an application `history` alone would say too little.
std::string name_among_others(const migration& step) {
  return is_history(step) ? "shared_lock_history" : step.name;
}

/// As the files of `migrations` are named.
std::string name_of_file(const migration& step) {
  return is_history(step) ? step.name : fmt::format("{:03}_{}", step.number, step.name);
}

/// MariaDB and MySQL commit at each statement, and the files say so.
bool has_transactions(const migration_series& series) {
  return series.language != sql_language::mysql;
}

std::string for_tool_with_client(const migration_series& series, const std::string& sql) {
  return series.language == sql_language::mysql ? for_clients(sql) : sql;
}

/// A command for the shell that executes `files` with the client of the database.
std::string client_command(sql_language language, const std::vector<std::string>& files) {
  const auto each = [&](const std::string& before) {
    std::string words;
    for (const auto& file : files) words += before + in_shell(file);
    return words;
  };
  switch (language) {
    case sql_language::sqlite:
      return "(echo 'BEGIN;'; cat" + each(" ") + "; echo 'COMMIT;') | sqlite3 -bail FILE";
    case sql_language::mysql:
      return "cat" + each(" ") + " | mariadb DATABASE";
    case sql_language::postgresql:
      break;
  }
  return "psql -1 -v ON_ERROR_STOP=1" + each(" -f ") + " DATABASE";
}

/// `sql` with `//` on a line of its own after each statement, instead of the semicolon.
std::string with_delimiter_lines(const std::string& sql) {
  std::istringstream lines{sql};
  std::string rewritten;
  bool is_in_trigger = false;
  for (std::string line; std::getline(lines, line);) {
    const auto text =
        std::string_view{line}.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (text.starts_with("CREATE TRIGGER")) is_in_trigger = true;
    if (line == "END;") is_in_trigger = false;
    const bool ends = !is_in_trigger && text.ends_with(';') && !text.starts_with("--");
    if (ends && line != "END;") line.pop_back();
    rewritten += line + '\n';
    if (ends) rewritten += "//\n";
  }
  return rewritten;
}

std::string in_rollback(const std::string& sql) {
  std::istringstream lines{sql};
  std::string commented;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) commented += "--rollback " + line + '\n';
  }
  return commented;
}

/// Names of projects are unique in a database.
std::string sqitch_project(const table_name& table) {
  if (table.text() == table_name{}.text()) return "rowlock";
  std::string name = "rowlock-" + table.text();
  std::replace(name.begin(), name.end(), '.', '-');
  return name;
}

}  // namespace

std::string for_clients(std::string sql) {
  constexpr std::string_view begin = "\nCREATE TRIGGER";
  constexpr std::string_view end = "\nEND;\n";
  for (auto at = sql.find(begin); at != std::string::npos; at = sql.find(begin, at)) {
    constexpr std::string_view before = "\nDELIMITER //";
    constexpr std::string_view after = "\nEND//\nDELIMITER ;\n";
    const auto last = sql.find(end, at);
    if (last == std::string::npos) break;
    sql.replace(last, end.size(), after);
    sql.insert(at, before);
    at += before.size() + begin.size();
  }
  return sql;
}

sql_language language_of(const database_url& url) {
  if (url.which() == database_url::engine::sqlite) return sql_language::sqlite;
  if (url.which() == database_url::engine::soci) {
    if (url.target().starts_with("mysql:")) return sql_language::mysql;
    if (url.target().starts_with("sqlite3:")) return sql_language::sqlite;
  }
  return sql_language::postgresql;
}

migration_folder plain_folder(const migration_series& series, const std::string& path) {
  migration_folder folder;
  std::vector<std::string> ups;
  for (const auto& step : series.steps) {
    const auto name = name_of_file(step);
    folder.files.push_back({name + ".up.sql", for_tool_with_client(series, step.up)});
    folder.files.push_back({name + ".down.sql", for_tool_with_client(series, step.down)});
    ups.push_back(fmt::format("{}/{}.up.sql", path, name));
  }
  folder.next = client_command(series.language, ups);
  return folder;
}

migration_folder flyway_folder(const migration_series& series, const std::string& path) {
  const std::string head =
      has_transactions(series) ? "-- Flyway begins a transaction for this file by itself.\n\n" : "";
  migration_folder folder;
  std::size_t version = 0;
  for (const auto& step : series.steps) {
    const auto name = fmt::format("{}__{}.sql", ++version, name_among_others(step));
    folder.files.push_back({'V' + name, head + for_tool_with_client(series, step.up)});
    folder.files.push_back({'U' + name, head + for_tool_with_client(series, step.down)});
  }
  folder.next = "flyway -url=JDBC_URL -locations=" + in_shell("filesystem:" + path) + " migrate";
  return folder;
}

migration_folder golang_migrate_folder(const migration_series& series, const std::string& path) {
  // In the order of sql_language.
  constexpr std::array<std::string_view, 3> heads{
      R"(-- golang-migrate sends this file as it is. Leave its x-multi-statement off, which would cut
-- the file at each semicolon.

)",
      R"(-- golang-migrate begins a transaction for this file by itself: leave its x-no-tx-wrap off.

)",
      R"(-- golang-migrate sends this file as it is. A program that gives it a connection of its own sets
-- multiStatements=true there; the command does so by itself.

)"};
  const std::string head{heads.at(static_cast<std::size_t>(series.language))};
  migration_folder folder;
  std::size_t version = 0;
  for (const auto& step : series.steps) {
    const auto name = fmt::format("{:06}_{}", ++version, name_among_others(step));
    folder.files.push_back({name + ".up.sql", head + step.up});
    folder.files.push_back({name + ".down.sql", head + step.down});
  }
  folder.next = "migrate -path " + in_shell(path) + " -database URL up";
  return folder;
}

migration_folder dbmate_folder(const migration_series& series, const std::string& path) {
  const std::string head = has_transactions(series)
                               ? "-- dbmate begins a transaction for each section by itself: leave "
                                 "transaction:false out.\n\n"
                               : "";
  constexpr std::size_t first_version = 20260101000001;
  migration_folder folder;
  auto version = first_version;
  for (const auto& step : series.steps) {
    folder.files.push_back(
        {std::to_string(version++) + '_' + name_among_others(step) + ".sql",
         head + "-- migrate:up\n" + step.up + "\n-- migrate:down\n" + step.down});
  }
  folder.next = "dbmate --url URL --migrations-dir " + in_shell(path) + " --no-dump-schema up";
  return folder;
}

migration_folder liquibase_folder(const migration_series& series, const std::string& path) {
  const bool is_one_statement = series.language == sql_language::postgresql;
  const std::string cut = is_one_statement ? "splitStatements:false rollbackSplitStatements:false"
                                           : "endDelimiter:// rollbackEndDelimiter://";
  std::string changelog = "--liquibase formatted sql\n";
  if (has_transactions(series)) {
    changelog += "\n-- Liquibase begins a transaction for each changeset by itself.\n";
  }
  for (const auto& step : series.steps) {
    changelog +=
        "\n--changeset rowlock:" + name_of_file(step) + ' ' + cut + " stripComments:false\n";
    changelog += is_one_statement ? step.up : with_delimiter_lines(step.up);
    changelog += in_rollback(is_one_statement ? step.down : with_delimiter_lines(step.down));
  }
  const std::string name = "rowlock.sql";
  return {.files = {{name, changelog}},
          .next = "liquibase --url=JDBC_URL --search-path=" + in_shell(path) +
                  " --changelog-file=" + name + " update"};
}

migration_folder sqitch_folder(const migration_series& series, const std::string& path) {
  constexpr std::array<std::string_view, 3> engines{"pg", "sqlite", "mysql"};
  const std::string engine{engines.at(static_cast<std::size_t>(series.language))};
  const auto script = [&](const std::string& sql) {
    const auto text = for_tool_with_client(series, sql);
    return has_transactions(series) ? "BEGIN;\n\n" + text + "\nCOMMIT;\n" : text;
  };
  migration_folder folder;
  folder.files.push_back({"sqitch.conf", "[core]\n\tengine = " + engine + '\n'});
  std::string plan = "%syntax-version=1.0.0\n%project=" + sqitch_project(series.table) + "\n\n";
  std::string before;
  for (const auto& step : series.steps) {
    const auto name = name_among_others(step);
    plan += fmt::format("{}{} 2026-01-01T00:00:00Z rowlock <rowlock@localhost> # {}\n", name,
                        before.empty() ? "" : " [" + before + ']', name_of_file(step));
    folder.files.push_back({"deploy/" + name + ".sql", script(step.up)});
    folder.files.push_back({"revert/" + name + ".sql", script(step.down)});
    folder.files.push_back({"verify/" + name + ".sql", step.verify});
    before = name;
  }
  folder.files.push_back({"sqitch.plan", plan});
  folder.next = "cd " + in_shell(path) + " && sqitch deploy --verify db:" + engine + ":DATABASE";
  return folder;
}

}  // namespace rowlock::cli
