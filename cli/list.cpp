// rowlock list: who holds what, since when, for how much longer.
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
#include "cli/table_options.hpp"

namespace rowlock::cli {

namespace {

struct list_options {
  table_options where;
  bool json = false;
};

constexpr std::size_t column_count = 6;
using table_line = std::array<std::string, column_count>;

std::string remaining_of(const row_state& row) {
  return row.is_live() ? show_duration(*row.remaining) : "run out";
}

table_line line_of(const row_state& row) {
  return {printable(row.key.type), printable(row.key.source_id),
          printable(row.holder),   printable(row.acquired_at.substr(0, row.acquired_at.find('.'))),
          remaining_of(row),       std::to_string(row.version.number)};
}

void print_table(const std::vector<row_state>& rows) {
  if (rows.empty()) {
    std::cout << "no key is held\n";
    return;
  }
  std::vector<table_line> lines{
      {"TYPE", "SOURCE", "HOLDER", "SINCE (UTC)", "REMAINING", "VERSION"}};
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
    std::cout << text << line.back() << '\n';
  }
}

/// `2026-01-31 12:00:00.000` is `2026-01-31T12:00:00.000Z` to programs (RFC 3339).
std::string timestamp(std::string database_time) {
  std::replace(database_time.begin(), database_time.end(), ' ', 'T');
  return database_time + 'Z';
}

void print_json(const std::vector<row_state>& rows) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    nlohmann::ordered_json shown;
    shown["type"] = row.key.type;
    shown["source"] = row.key.source_id;
    shown["holder"] = row.holder;
    shown["since"] = timestamp(row.acquired_at);
    shown["remaining_ms"] =
        row.is_live() ? std::chrono::ceil<std::chrono::milliseconds>(*row.remaining).count() : 0;
    shown["version"] = row.version.number;
    all.push_back(std::move(shown));
  }
  // ASCII only, so that it is safe on a terminal too.
  using error_handler = nlohmann::ordered_json::error_handler_t;
  std::cout << all.dump(2, ' ', true, error_handler::replace) << '\n';
}

int list_now(const list_options& options) {
  const auto rows = open_store(options.where.url, table_name{options.where.table})->list();
  if (options.json) {
    print_json(rows);
  } else {
    print_table(rows);
  }
  return exit_code::success;
}

}  // namespace

void add_list(CLI::App& app, action& chosen) {
  const auto options = std::make_shared<list_options>();
  CLI::App* list = app.add_subcommand("list", "Show who holds which key");
  options->where.add_to(*list);
  list->add_flag("--json", options->json, "An array of objects, for programs");
  list->footer(
      R"(A lease that has run out is shown until somebody takes the key. Locks of open transactions are not
shown: they are known to the database alone. In the table, characters that could confuse a terminal are
escaped. The fields of the JSON objects: type, source, holder, since, remaining_ms, version.

Examples:
  rowlock list sqlite:///var/lib/shop/locks.db
  rowlock list postgresql://app@db/shop --json | jq '.[] | select(.type == "invoice")')");
  list->callback([options, &chosen] { chosen = [options] { return list_now(*options); }; });
}

}  // namespace rowlock::cli
