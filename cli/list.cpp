// rowlock list: the held keys, with holder, age, last sign of life and remaining time.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>

#include "cli/command_tree.hpp"
#include "cli/database_url.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/page_printer.hpp"
#include "cli/say.hpp"
#include "cli/screen.hpp"
#include "cli/text_table.hpp"
#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

using std::size_t;

struct list_command {
  table_options where;
  list_options which;
  std::optional<std::string> limit;
  bool json = false;
};

/// Only one page is in memory at a time.
constexpr size_t rows_of_a_page = 1000;
/// Without --limit, in an order in which there are no pages.
constexpr size_t usual_limit = 1000;

/// None: all rows.
std::optional<size_t> limit_of(const list_command& command, row_order sort) {
  if (!command.limit) return sort == row_order::key ? std::nullopt : std::optional{usual_limit};
  const auto limit = parse_limit(*command.limit, "rows");
  if (sort != row_order::key && limit > largest_page) {
    throw misuse(
        "--limit is above 10000, which is the most in this order: lower it, or leave out --sort");
  }
  return limit;
}

/// Prints rows as they come, up to `limit`; whether there are more.
bool print_rows(store& rows, list_request request, std::optional<size_t> limit,
                page_printer<row_table>& printer) {
  for (auto left = limit;;) {
    // One more row than is printed says that there are more.
    const bool is_last_page = request.sort != row_order::key || (left && *left < rows_of_a_page);
    request.limit = is_last_page ? std::min(*left + 1, largest_page) : rows_of_a_page;
    auto page = rows.list(request);
    const bool is_full = page.size() == *request.limit;
    if (is_last_page && page.size() > *left) page.resize(*left);
    printer.print(page);
    if (is_last_page || !is_full || !std::cout) return is_last_page && is_full;
    if (left) *left -= page.size();
    request.after = page.back().key;
  }
}

int list_now(const list_command& command) {
  const auto request = command.which.request();
  const auto limit = limit_of(command, request.sort);
  const bool has_colors = command.which.has_colors();
  const bool is_filtered = request.type || request.holder || request.state != row_filter::any;

  const auto rows = open_store(command.where.database(), table_name{command.where.table});
  page_printer printer{row_table{terminal_columns(), has_colors}, command.json};
  const bool has_more = print_rows(*rows, request, limit, printer);
  printer.end(is_filtered ? "no such key is held" : "no key is held");
  if (has_more) {
    // The database was asked for no more rows than that.
    const bool is_sure = request.sort == row_order::key || *limit < largest_page;
    say(fmt::format(
        "these are the first {} by {}, and there {} more: raise --limit, or choose with --type, "
        "--holder or --state",
        *limit, word_of(request.sort), is_sure ? "are" : "may be"));
  }
  return exit_code::success;
}

}  // namespace

void add_list(CLI::App& app, action& chosen) {
  const auto [list, command] = add_table_command(
      app, chosen, "list", "Show the keys that are held, and their holders", list_now);
  command->which.add_to(*list);
  add_value(*list, "--limit ROWS", command->limit,
            "The most rows; by key all if not given, else 1000, and 10000 at most");
  list->add_flag("--json", command->json, "An array of objects, for programs");
  list->footer(
      R"(Output:
  AGE           for how long the key is held
  ALIVE         when its lease was renewed last: a holder that lives renews every third of its lease; after
                half of it without a renewal it is "no sign"; "clock fault": more is left than the lease lasts
  LEFT          what is left of the lease: "run out" is shown until the key is taken again; "closed" is a key
                that has no holder and cannot be taken yet: a minimum hold, or the time after a loss
  [waited for]  a process waits for the key (PostgreSQL only)
  [asked for]   its holder was asked to yield: show says by whom and why

On a terminal, long texts are shortened to its width, and a holder without a sign is yellow, a lease that
has run out red, a key that is waited for bold. Characters that could confuse a terminal are escaped.

Locks of open transactions are not shown: show reads that of one key, and used_by is null here. The fields of
the JSON objects are those of show. Rows are read in pages of 1000, each of its own moment, and printed as
they come; after an error the array has no end.

Examples:
  rowlock list sqlite:///var/lib/shop/locks.db --type invoice
  rowlock list postgresql://app@db/shop --sort age --limit 20
  rowlock list postgresql://app@db/shop --json | jq '.[] | select(.waited_for)')");
}

}  // namespace rowlock::cli
