// rowlock migrate: brings a database to the schema version of this command, or prints the SQL.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
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
};

void print_sql(std::vector<migration> all, bool down) {
  if (down) std::reverse(all.begin(), all.end());
  for (const auto& step : all) std::cout << (down ? step.down : step.up) << '\n';
}

int migrate_now(const migrate_options& options) {
  const auto url = options.where.database();
  const table_name table{options.where.table};
  const auto all = migrations_for(url, table);
  if (options.print) {
    print_sql(all, options.down);
    return exit_code::success;
  }
  const auto applied = migrate(url, table);
  for (const auto& step : applied) {
    std::cout << "applied " << std::setw(3) << std::setfill('0') << step.number << ' ' << step.name
              << '\n';
  }
  if (applied.empty()) {
    std::cout << "nothing to do: schema version " << all.back().number << '\n';
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
  migrate->add_flag("--down", options->down, "With --print: the SQL that takes it all back")
      ->needs(print);
  migrate->footer(
      R"(A SQLite file that does not exist is created, its folder is not. Running it again does nothing, and any
number of processes may run it at once.

Examples:
  rowlock migrate sqlite:///var/lib/shop/locks.db
  rowlock migrate postgresql://app@db/shop --table locking.shared_lock
  rowlock migrate mysql://app@db/shop
  rowlock migrate --print postgresql:// | psql shop)");
  migrate->callback([options, &chosen] { chosen = [options] { return migrate_now(*options); }; });
}

}  // namespace rowlock::cli
