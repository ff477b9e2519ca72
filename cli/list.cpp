// rowlock list: all held keys, with holder, start and remaining time.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/action.hpp"
#include "cli/database_url.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/printable.hpp"
#include "cli/shown_row.hpp"
#include "cli/table_options.hpp"

namespace rowlock::cli {

namespace {

struct list_options {
  table_options where;
  bool json = false;
};

constexpr std::size_t column_count = 7;
using table_line = std::array<std::string, column_count>;

std::string remaining_of(const row_state& row) {
  if (!row.is_live()) return "run out";
  return (row.owned ? "" : "closed ") + show_duration(*row.remaining);
}

/// `show` prints the whole note.
std::string beginning_of(const std::string& note) {
  constexpr std::size_t widest = 40;
  std::string shown = printable(note);
  if (character_count(shown) <= widest) return shown;
  while (character_count(shown) > widest) shown.pop_back();
  return shown + "...";
}

table_line line_of(const row_state& row) {
  return {printable(row.key.type), printable(row.key.source_id),
          printable(row.holder),   row.owned ? printable(to_the_second(row.acquired_at)) : "-",
          remaining_of(row),       std::to_string(row.version.number),
          beginning_of(row.note)};
}

void print_table(const std::vector<row_state>& rows) {
  if (rows.empty()) {
    std::cout << "no key is held\n";
    return;
  }
  std::vector<table_line> lines{
      {"TYPE", "SOURCE", "HOLDER", "SINCE (UTC)", "REMAINING", "VERSION", "NOTE"}};
  for (const auto& row : rows) lines.push_back(line_of(row));

  std::array<std::size_t, column_count> widths{};
  for (const auto& line : lines) {
    for (std::size_t at = 0; at < column_count; ++at) {
      widths.at(at) = std::max(widths.at(at), character_count(line.at(at)));
    }
  }
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t at = 0; at + 1 < column_count; ++at) {
      text += line.at(at) + std::string(widths.at(at) - character_count(line.at(at)) + 2, ' ');
    }
    text += line.back();
    std::cout << text.erase(text.find_last_not_of(' ') + 1) << '\n';
  }
}

void print_array(const std::vector<row_state>& rows) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& row : rows) all.push_back(json_of(row));
  print_json(all);
}

int list_now(const list_options& options) {
  const auto rows = open_store(options.where.database(), table_name{options.where.table})->list();
  if (options.json) {
    print_array(rows);
  } else {
    print_table(rows);
  }
  return exit_code::success;
}

}  // namespace

void add_list(CLI::App& app, action& chosen) {
  const auto options = std::make_shared<list_options>();
  CLI::App* list = app.add_subcommand("list", "Show the keys that are held, and their holders");
  options->where.add_to(*list);
  list->add_flag("--json", options->json, "An array of objects, for programs");
  list->footer(
      R"(A lease that has run out is shown until the key is taken again. "closed" is a key that has no holder and
cannot be taken yet: a minimum hold, or the time after a loss. Locks of open transactions are not shown:
show reads that of one key, and used_by is null here. In the table, characters that could confuse a terminal
are escaped, and long notes are cut. The fields of the JSON objects are those of show.

Examples:
  rowlock list sqlite:///var/lib/shop/locks.db
  rowlock list postgresql://app@db/shop --json | jq '.[] | select(.type == "invoice")')");
  list->callback([options, &chosen] { chosen = [options] { return list_now(*options); }; });
}

}  // namespace rowlock::cli
