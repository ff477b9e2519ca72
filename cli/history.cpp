// rowlock history: who had which key, from when until when, and how that ended.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/action.hpp"
#include "cli/cells.hpp"
#include "cli/database_time.hpp"
#include "cli/database_url.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "cli/json_array.hpp"
#include "cli/period_options.hpp"
#include "cli/printable.hpp"
#include "cli/say.hpp"
#include "cli/shown_row.hpp"
#include "cli/table_options.hpp"
#include "cli/terminal_size.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

struct history_command {
  table_options where;
  std::optional<std::string> type;
  std::optional<std::string> source;
  std::optional<std::string> holder;
  std::optional<std::string> what;
  period_options period;
  std::string limit = "1000";
  bool json = false;
};

/// Only one page is in memory at a time.
constexpr std::size_t events_of_a_page = 1000;

std::size_t event_limit_of(const history_command& command) {
  const std::string_view text{command.limit};
  std::size_t limit = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (failure != std::errc{} || rest != text.data() + text.size() || limit == 0) {
    throw error{errc::misuse, "--limit is no number of events: write a whole number from 1 on"};
  }
  return limit;
}

/// `ran-out` needs no quotes in a shell.
std::optional<std::string> with_spaces(std::optional<std::string> what) {
  if (what) std::replace(what->begin(), what->end(), '-', ' ');
  return what;
}

history_request request_of(const history_command& command) {
  return {.type = command.type,
          .source_id = command.source,
          .holder = command.holder,
          .what = with_spaces(command.what)};
}

class event_printer {
 public:
  event_printer() = default;
  event_printer(const event_printer&) = delete;
  event_printer& operator=(const event_printer&) = delete;
  virtual ~event_printer() = default;

  virtual void print(const std::vector<lock_event>& events) = 0;
  virtual void end() = 0;
};

class event_table final : public event_printer {
 public:
  event_table(database_time since, std::optional<std::size_t> columns)
      : since_{since}, columns_{columns} {}

  void print(const std::vector<lock_event>& events) override {
    if (events.empty()) return;
    std::vector<cells> lines;
    if (is_empty_) lines.push_back({"AT (UTC)", "WHAT", "KEY", "HOLDER", "HELD", "DETAILS"});
    is_empty_ = false;
    for (const auto& event : events) lines.push_back(cells_of(event));
    for (const auto& line : lines) {
      for (std::size_t at = 0; at < line.size(); ++at) {
        widths_.at(at) = std::max(widths_.at(at), cell_count(line.at(at)));
      }
    }
    for (const auto& line : lines) std::cout << text_of(line) << '\n';
    std::cout.flush();
  }
  void end() override {
    if (is_empty_) std::cout << "no such event since " << to_rfc3339(since_) << '\n';
  }

 private:
  static constexpr std::size_t column_count = 6;
  using cells = std::array<std::string, column_count>;

  static cells cells_of(const lock_event& event) {
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
            event.held ? show_duration(*event.held) : "-",
            printable(details)};
  }

  /// Keys and holders lose their middle where the terminal is too narrow.
  [[nodiscard]] std::string text_of(const cells& line) const {
    constexpr std::size_t key = 2;
    constexpr std::size_t holder = 3;
    constexpr std::size_t gap = 2;
    constexpr std::size_t least = 12;
    auto widths = widths_;
    if (columns_) {
      std::size_t total = gap * (column_count - 1);
      for (const auto width : widths) total += width;
      for (const auto shortened : {key, holder}) {
        const auto most = widths.at(shortened) - std::min(widths.at(shortened), least);
        const auto cut = std::min(most, total - std::min(total, *columns_));
        widths.at(shortened) -= cut;
        total -= cut;
      }
    }
    std::string text;
    for (std::size_t at = 0; at < column_count; ++at) {
      const bool is_last = at + 1 == column_count;
      text += padded(is_last ? line.at(at) : without_middle(line.at(at), widths.at(at)),
                     is_last ? 0 : widths.at(at) + gap);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return columns_ ? without_end(text, *columns_) : text;
  }

  database_time since_;
  std::optional<std::size_t> columns_;
  std::array<std::size_t, column_count> widths_{};
  bool is_empty_ = true;
};

class event_array_printer final : public event_printer {
 public:
  void print(const std::vector<lock_event>& events) override {
    for (const auto& event : events) array_.add(json_of(event));
    std::cout.flush();
  }
  void end() override { array_.end(); }

 private:
  json_array array_;
};

/// Prints events as they come, up to `limit`; whether there are more.
bool print_events(store& rows, history_request request, std::size_t limit, event_printer& printer) {
  for (;;) {
    // One more event than is printed says that there are more.
    request.at_most = std::min(limit, events_of_a_page) + 1;
    auto page = rows.history(request);
    if (!page.is_recorded) {
      throw error{errc::rejected,
                  "this database has no history: `rowlock migrate <URL> --with history` begins "
                  "one; what was before it is not known"};
    }
    if (page.is_ended && !request.before) {
      say("the history was ended: what happened since then is not in it");
    }
    const bool is_full = page.events.size() == request.at_most;
    if (is_full) page.events.pop_back();
    printer.print(page.events);
    limit -= page.events.size();
    if (!is_full || limit == 0 || !std::cout) return is_full;
    request.before = page.events.back();
  }
}

int history_now(const history_command& command) {
  const auto limit = event_limit_of(command);
  const auto terminal = size_of_terminal();
  // Wrong values are said before the database is asked.
  command.period.check_any_time(request_of(command));
  const auto rows = open_store(command.where.database(), table_name{command.where.table});
  const auto request = command.period.of(request_of(command), rows->now());
  std::unique_ptr<event_printer> printer;
  if (command.json) {
    printer = std::make_unique<event_array_printer>();
  } else {
    printer = std::make_unique<event_table>(
        *request.since, terminal ? std::optional{terminal->columns} : std::nullopt);
  }
  const bool has_more = print_events(*rows, request, limit, *printer);
  printer->end();
  if (has_more) {
    say("these are the newest " + std::to_string(limit) +
        ", and there are more: raise --limit, or choose with --until, --type, --source, --holder "
        "or --what");
  }
  return exit_code::success;
}

}  // namespace

void add_history(CLI::App& app, action& chosen) {
  const auto command = std::make_shared<history_command>();
  CLI::App* history =
      app.add_subcommand("history", "Show which holder had which key, when, and how that ended");
  command->where.add_to(*history);
  history->add_option("--type", command->type, "Only keys of this type")->type_name("TYPE");
  history->add_option("--source", command->source, "Only keys with this source id")
      ->type_name("SOURCE");
  history->add_option("--holder", command->holder, "Only of this holder, by its whole label")
      ->type_name("LABEL");
  history
      ->add_option("--what", command->what, "Only events of this name, such as forced or ran-out")
      ->type_name("NAME");
  command->period.add_to(*history);
  history->add_option("--limit", command->limit, "The most events")
      ->type_name("EVENTS")
      ->capture_default_str();
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
  history->callback([command, &chosen] { chosen = [command] { return history_now(*command); }; });
}

}  // namespace rowlock::cli
