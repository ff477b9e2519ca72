// rowlock migrate: brings a database to the schema version of this command, or prints the SQL.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/action.hpp"
#include "cli/database_url.hpp"
#include "cli/exit_codes.hpp"
#include "cli/table_options.hpp"

namespace rowlock::cli {

namespace {

struct migrate_options {
  table_options where;
  bool print = false;
  bool down = false;
  std::vector<std::string> with;
  std::vector<std::string> without;

  [[nodiscard]] history_option history() const {
    if (!with.empty()) return history_option::with;
    return without.empty() ? history_option::unchanged : history_option::without;
  }
};

/// The clients of MariaDB and MySQL end a statement at each semicolon, also within a trigger.
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

bool is_for_mysql(const database_url& url) {
  return url.which() == database_url::engine::soci && url.target().starts_with("mysql:");
}

void print_sql(const migrate_options& options, const database_url& url, const table_name& table) {
  auto all = migrations_for(url, table);
  if (options.down) std::reverse(all.begin(), all.end());
  if (options.history() == history_option::without) all.clear();
  for (const auto& step : all) std::cout << (options.down ? step.down : step.up) << '\n';
  if (options.history() == history_option::unchanged) return;
  const auto history = history_for(url, table);
  const auto& sql = options.history() == history_option::with ? history.up : history.down;
  std::cout << (is_for_mysql(url) ? for_clients(sql) : sql) << '\n';
}

int migrate_now(const migrate_options& options) {
  const auto url = options.where.database();
  const table_name table{options.where.table};
  if (options.print) {
    print_sql(options, url, table);
    return exit_code::success;
  }
  const auto applied = migrate(url, table, options.history());
  for (const auto& step : applied) {
    if (step.number == 0) {
      std::cout << (options.history() == history_option::with
                        ? "began the history"
                        : "ended the history; its events stay in " + table.text() + "_event")
                << '\n';
      continue;
    }
    std::cout << "applied " << std::setw(3) << std::setfill('0') << step.number << ' ' << step.name
              << '\n';
  }
  if (applied.empty()) {
    std::cout << "nothing to do: schema version " << migrations_for(url, table).back().number
              << '\n';
  }
  return exit_code::success;
}

}  // namespace

void add_migrate(CLI::App& app, action& chosen) {
  const auto options = std::make_shared<migrate_options>();
  CLI::App* migrate = app.add_subcommand("migrate", "Create or upgrade the lock table");
  options->where.add_to(*migrate);
  CLI::Option* print =
      migrate->add_flag("--print", options->print, "Only print the SQL; nothing is connected to");
  CLI::Option* down =
      migrate->add_flag("--down", options->down, "With --print: the SQL that takes it all back")
          ->needs(print);
  const auto is_an_option = CLI::IsMember{{"history"}};
  CLI::Option* with = migrate->add_option("--with", options->with, "Begin an option: history")
                          ->type_name("OPTION")
                          ->check(is_an_option)
                          ->excludes(down);
  migrate->add_option("--without", options->without, "End it; what it has written stays")
      ->type_name("OPTION")
      ->check(is_an_option)
      ->excludes(with);
  migrate->footer(
      R"(A SQLite file that does not exist is created, its folder is not. Running it again does nothing, and any
number of processes may run it at once.

--with history adds a table of events, shared_lock_event, which triggers write, so that it has what any
process does with the locks. --without history takes the triggers away. Both lock the lock table for a
moment. With --print, the SQL of the option follows that of the table (--without: it is alone).

Examples:
  rowlock migrate sqlite:///var/lib/shop/locks.db
  rowlock migrate postgresql://app@db/shop --table locking.shared_lock
  rowlock migrate mysql://app@db/shop
  rowlock migrate postgresql://app@db/shop --with history
  rowlock migrate --print postgresql:// | psql shop)");
  migrate->callback([options, &chosen] { chosen = [options] { return migrate_now(*options); }; });
}

}  // namespace rowlock::cli
