// rowlock migrate: brings a database to the schema version of this command, or prints the SQL.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/action.hpp"
#include "cli/choice.hpp"
#include "cli/database_url.hpp"
#include "cli/exit_codes.hpp"
#include "cli/migration_folder.hpp"
#include "cli/new_folder.hpp"
#include "cli/printable.hpp"
#include "cli/say.hpp"
#include "cli/statement_ends.hpp"
#include "cli/table_options.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

struct migrate_options {
  table_options where;
  bool print = false;
  bool down = false;
  std::optional<std::string> format;
  std::optional<std::string> output;
  std::vector<std::string> with;
  std::vector<std::string> without;

  [[nodiscard]] history_option history() const {
    if (!with.empty()) return history_option::with;
    return without.empty() ? history_option::unchanged : history_option::without;
  }
};

void print_sql(const migrate_options& options, const database_url& url, const table_name& table) {
  auto all = migrations_for(url, table);
  if (options.down) std::reverse(all.begin(), all.end());
  if (options.history() == history_option::without) all.clear();
  for (const auto& step : all) std::cout << (options.down ? step.down : step.up) << '\n';
  if (options.history() == history_option::unchanged) return;
  const auto history = history_for(url, table);
  const auto& sql = options.history() == history_option::with ? history.up : history.down;
  const bool is_for_mysql = language_of(url) == sql_language::mysql;
  std::cout << (is_for_mysql ? for_clients(sql) : sql) << '\n';
}

void write_folder(const migrate_options& options, const database_url& url, const table_name& table,
                  migration_format format) {
  migration_series series{
      .language = language_of(url), .table = table, .steps = migrations_for(url, table)};
  if (options.history() == history_option::with) series.steps.push_back(history_for(url, table));
  const auto folder = folder_of(format, series, *options.output);
  write_new_folder(*options.output, folder.files);
  std::cout << "wrote " << printable(*options.output) << '\n';
  for (const auto& each : folder.files) std::cout << "  " << each.path << '\n';
  std::cout << "next: " << printable(folder.next) << '\n';
}

void print(const migrate_options& options, const database_url& url, const table_name& table) {
  const auto format = chosen_of("--format", options.format.value_or("plain"), migration_formats);
  if (!options.output) {
    if (format == migration_format::plain) return print_sql(options, url, table);
    throw error{errc::misuse,
                "--format " + *options.format + " writes files: name a new folder with --output"};
  }
  hide_passwords_of(*options.output);  // if a URL was written in its place
  write_folder(options, url, table, format);
}

int migrate_now(const migrate_options& options) {
  const table_name table{options.where.table};
  if (options.print) {
    print(options, options.where.kind_of_database(), table);
    return exit_code::success;
  }
  const auto url = options.where.database();
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
  migrate
      ->add_option("--format", options->format,
                   "With --print: the migration tool that the files are for")
      ->type_name(type_name_of("FORMAT", migration_formats))
      ->needs(print)
      ->excludes(down);
  CLI::Option* output =
      migrate->add_option("--output", options->output, "With --print: the new folder of the files")
          ->type_name("FOLDER")
          ->needs(print)
          ->excludes(down);
  // Without the text itself, which may be a URL with a password.
  const CLI::Validator is_an_option{[](const std::string& text) {
                                      return text == "history" ? "" : "is not known: write history";
                                    },
                                    ""};
  CLI::Option* with = migrate->add_option("--with", options->with, "Begin an option: history")
                          ->type_name("OPTION")
                          ->allow_extra_args(false)  // so that the URL may follow
                          ->check(is_an_option)
                          ->excludes(down);
  migrate->add_option("--without", options->without, "End it; what it has written stays")
      ->type_name("OPTION")
      ->allow_extra_args(false)
      ->check(is_an_option)
      ->excludes(with)
      ->excludes(output);
  migrate->footer(
      R"(A SQLite file that does not exist is created, its folder is not. Running it again does nothing, and any
number of processes may run it at once.

--with history adds a table of events, shared_lock_event, which triggers write, so that it has what any
process does with the locks. --without history takes the triggers away. Both lock the lock table for a
moment. With --print, the SQL of the option follows that of the table (--without: it is alone).

--print --format FORMAT --output FOLDER writes the files that a migration tool takes, up and down, into a new
folder, and says the tool's command. For --print, postgresql://, sqlite:// or mysql:// is URL enough.

Examples:
  rowlock migrate sqlite:///var/lib/shop/locks.db
  rowlock migrate postgresql://app@db/shop --table locking.shared_lock
  rowlock migrate mysql://app@db/shop
  rowlock migrate postgresql://app@db/shop --with history
  rowlock migrate --print postgresql:// | psql shop
  rowlock migrate --print --format flyway --output locks postgresql://)");
  migrate->callback([options, &chosen] { chosen = [options] { return migrate_now(*options); }; });
}

}  // namespace rowlock::cli
