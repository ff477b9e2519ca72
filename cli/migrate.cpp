// rowlock migrate: brings a database to the schema version of this command, or prints the SQL.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/database_url.hpp"
#include "cli/exit_codes.hpp"
#include "cli/migration_folder.hpp"
#include "cli/options.hpp"
#include "cli/printable.hpp"
#include "cli/say.hpp"
#include "cli/values.hpp"
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

[[noreturn]] void refuse_output(const std::string& folder, const std::error_code& why) {
  throw command_error{exit_code::output_failed,
                      "--output " + folder + " cannot be written: " + why.message() +
                          "; name a folder whose parent exists and may be written"};
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out{file, std::ios::binary};
  out << text;
  out.close();
  if (!out) {
    throw std::filesystem::filesystem_error{"write", file, {errno, std::generic_category()}};
  }
}

/// Creates `folder` with all `files` or none of them. Its parent has to exist.
///
/// Throws `error` (misuse) if there is something of this name already, which is left as it is, and
/// `command_error` (74) when the folder cannot be written.
void write_new_folder(const std::string& folder, const std::vector<text_file>& files) {
  if (folder.empty()) throw misuse("--output has no name: name a new folder");
  auto target = std::filesystem::path{folder}.lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // ended in a slash
  std::error_code failure;
  if (std::filesystem::exists(std::filesystem::symlink_status(target, failure))) {
    throw misuse(
        "--output {} exists already, and nothing in it is overwritten: name a folder that does not "
        "exist",
        folder);
  }
  // A folder beside it, so that a rename can move the files.
  const auto staged = fmt::format("{}.tmp{}", target.string(), getpid());
  if (!std::filesystem::create_directory(staged, failure)) {
    refuse_output(folder, failure ? failure : std::make_error_code(std::errc::file_exists));
  }
  try {
    for (const auto& each : files) write_file(staged / std::filesystem::path{each.path}, each.text);
    std::filesystem::rename(staged, target);
  } catch (const std::filesystem::filesystem_error& fault) {
    std::filesystem::remove_all(staged, failure);
    refuse_output(folder, fault.code());
  }
}

void write_folder(const migrate_options& options, const database_url& url, const table_name& table,
                  folder_maker& folder_of) {
  migration_series series{
      .language = language_of(url), .table = table, .steps = migrations_for(url, table)};
  if (options.history() == history_option::with) series.steps.push_back(history_for(url, table));
  const auto folder = folder_of(series, *options.output);
  write_new_folder(*options.output, folder.files);
  std::cout << "wrote " << printable(*options.output) << '\n';
  for (const auto& each : folder.files) std::cout << "  " << each.path << '\n';
  std::cout << "next: " << printable(folder.next) << '\n';
}

void print(const migrate_options& options, const database_url& url, const table_name& table) {
  auto* const maker = chosen_of("--format", options.format.value_or("plain"), migration_formats);
  if (!options.output) {
    if (maker == plain_folder) return print_sql(options, url, table);
    throw misuse("--format {} writes files: name a new folder with --output", *options.format);
  }
  hide_passwords_of(*options.output);  // if a URL was written in its place
  write_folder(options, url, table, *maker);
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
    std::cout << fmt::format("applied {:03} {}\n", step.number, step.name);
  }
  if (applied.empty()) {
    std::cout << "nothing to do: schema version " << migrations_for(url, table).back().number
              << '\n';
  }
  return exit_code::success;
}

}  // namespace

void add_migrate(CLI::App& app, action& chosen) {
  const auto [migrate, options] =
      add_table_command(app, chosen, "migrate", "Create or upgrade the lock table", migrate_now);
  CLI::Option* print =
      migrate->add_flag("--print", options->print, "Only print the SQL; nothing is connected to");
  CLI::Option* down =
      migrate->add_flag("--down", options->down, "With --print: the SQL that takes it all back")
          ->needs(print);
  add_value(*migrate, "--format " + type_name_of("FORMAT", migration_formats), options->format,
            "With --print: the migration tool that the files are for")
      ->needs(print)
      ->excludes(down);
  CLI::Option* output = add_value(*migrate, "--output FOLDER", options->output,
                                  "With --print: the new folder of the files")
                            ->needs(print)
                            ->excludes(down);
  // Without the text itself, which may be a URL with a password.
  const CLI::Validator is_an_option{[](const std::string& text) {
                                      return text == "history" ? "" : "is not known: write history";
                                    },
                                    ""};
  CLI::Option* with =
      add_value(*migrate, "--with OPTION", options->with, "Begin an option: history")
          ->allow_extra_args(false)  // so that the URL may follow
          ->check(is_an_option)
          ->excludes(down);
  add_value(*migrate, "--without OPTION", options->without, "End it; what it has written stays")
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
}

}  // namespace rowlock::cli
