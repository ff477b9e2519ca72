// rowlock history: who had which key, from when until when, and how that ended.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/database_time.hpp"
#include "cli/database_url.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/page_printer.hpp"
#include "cli/printable.hpp"
#include "cli/say.hpp"
#include "cli/screen.hpp"
#include "cli/shown_row.hpp"
#include "cli/text_table.hpp"
#include "cli/values.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

struct history_command {
  table_options where;
  history_request which;
  period_options period;
  std::string limit = "1000";
  bool json = false;
};

/// Only one page is in memory at a time.
constexpr std::size_t events_of_a_page = 1000;

class event_table : public text_table {
 public:
  explicit event_table(std::optional<std::size_t> width)
      : text_table{{{"AT (UTC)"}, {"WHAT"}, {"KEY", 12}, {"HOLDER", 12}, {"HELD"}, {"DETAILS"}},
                   width} {}

  std::vector<std::string> lines_of(const std::vector<lock_event>& events) {
    std::vector<row> shown;
    shown.reserve(events.size());
    for (const auto& event : events) shown.push_back({cells_of(event)});
    return text_table::lines_of(shown);
  }

 private:
  static std::vector<std::string> cells_of(const lock_event& event) {
    std::string details = event.reason;
    if (event.what == "closed" || event.what == "done") {
      details = "until " + to_the_second(event.until);
    }
    if (!event.correlation_id.empty()) {
      details += (details.empty() ? "id " : ", id ") + event.correlation_id;
    }
    return {event.at.substr(0, event.at.size() - std::min<std::size_t>(3, event.at.size())),
            printable(event.what),
            printable(event.key.type + '/' + event.key.source_id),
            event.holder.empty() ? "-" : printable(event.holder),
            event.held_for ? show_duration(*event.held_for) : "-",
            printable(details)};
  }
};

/// Prints events as they come, up to `limit`; whether there are more.
bool print_events(store& rows, history_request request, std::size_t limit,
                  page_printer<event_table>& printer) {
  for (;;) {
    // One more event than is printed says that there are more.
    request.limit = std::min(limit, events_of_a_page) + 1;
    auto page = rows.history(request);
    if (!page.is_recorded) {
      throw error{errc::rejected,
                  "this database has no history: `rowlock migrate <URL> --with history` begins "
                  "one; what was before it is not known"};
    }
    if (page.is_ended && !request.before) {
      say("the history was ended: what happened since then is not in it");
    }
    const bool is_full = page.events.size() == request.limit;
    if (is_full) page.events.pop_back();
    printer.print(page.events);
    limit -= page.events.size();
    if (!is_full || limit == 0 || !std::cout) return is_full;
    request.before = page.events.back();
  }
}

int history_now(const history_command& command) {
  const auto limit = parse_limit(command.limit, "events");
  // Wrong values are said before the database is asked.
  auto request = command.which;
  // `ran-out` needs no quotes in a shell.
  if (request.what) std::replace(request.what->begin(), request.what->end(), '-', ' ');
  command.period.check_any_time(request);
  const auto rows = open_store(command.where.database(), table_name{command.where.table});
  request = command.period.of(request, rows->now());
  page_printer printer{event_table{terminal_columns()}, command.json};
  const bool has_more = print_events(*rows, request, limit, printer);
  printer.end("no such event since " + to_rfc3339(*request.since));
  if (has_more) {
    say("these are the newest " + std::to_string(limit) +
        ", and there are more: raise --limit, or choose with --until, --type, --source, --holder "
        "or --what");
  }
  return exit_code::success;
}

}  // namespace

void add_history(CLI::App& app, action& chosen) {
  const auto [history, command] =
      add_table_command(app, chosen, "history",
                        "Show which holder had which key, when, and how that ended", history_now);
  add_value(*history, "--type TYPE", command->which.type, "Only keys of this type");
  add_value(*history, "--source SOURCE", command->which.source_id, "Only keys with this source id");
  add_value(*history, "--holder LABEL", command->which.holder,
            "Only of this holder, by its whole label");
  add_value(*history, "--what NAME", command->which.what,
            "Only events of this name, such as forced or ran-out");
  command->period.add_to(*history);
  add_value(*history, "--limit EVENTS", command->limit, "The most events");
  history->add_flag("--json", command->json, "An array of objects, for programs");
  history->footer(
      R"(The newest event first. It needs the history of the database: rowlock migrate URL --with history.

Events:
  granted            a holder got the key
  released           the hold ended; HELD is how long it was, as with the next four
  failed             released after an error
  handed over        to a waiter of the same process
  forced             taken away
  ran out            written when the key is next taken or unset; HELD is until the lease was over.
                     `rowlock list --state run-out` shows those before
  closed             the key is granted to no owner for a time
  done               the work is remembered
  asked              the holder was asked to yield; HOLDER asked. Written when the hold ends, of the last one
  locked, committed  a transaction had the key; HOLDER is its session, where the database knows it

A TIME is 30m or 7d, so long ago by the database's clock, or 2026-01-31T12:00:00Z, which is UTC.

With --type and --source the events of that key are found by an index. Otherwise all events between --until
and --since are read until there are enough.

The fields of the JSON objects: at, type, source, what, version, token, holder, since, until, held_ms, reason,
correlation_id.

Examples:
  rowlock history postgresql://app@db/shop --type invoice --source 42 --since 7d
  rowlock history postgresql://app@db/shop --what forced --since 30d --json
  rowlock history postgresql://app@db/shop --since 2026-01-31T02:50:00Z --until 2026-01-31T03:10:00Z)");
}

}  // namespace rowlock::cli
