// The header and the rows of `rowlock top`.
#include "cli/top_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "cli/duration.hpp"
#include "cli/options.hpp"
#include "cli/printable.hpp"
#include "cli/text_table.hpp"

namespace rowlock::cli {

namespace {

constexpr std::array<std::string_view, 10> help{
    "a  the longest held first (age)",
    "l  the least time left first",
    "k  by key",
    "t  only one type, typed in full; empty: all",
    "h  only one holder, by its whole label; empty: all",
    "space  pause, and go on",
    "?  this help",
    "q  quit",
    "",
    "any key closes this help"};

/// Longer without an answer, and the header says so.
constexpr std::chrono::seconds unremarkable{1};

std::string counts_in(const top_state& shown) {
  row_totals all;
  for (const auto& row : shown.rows) all.add(row);
  return fmt::format("{} held, {} run out, {} closed, {} waited for{}", all.held, all.run_out,
                     all.closed, all.waited_for,
                     shown.rows.size() >= largest_page ? " of the first 10000" : "");
}

std::string filters_in(const list_request& request) {
  std::string filters;
  if (request.state != row_filter::any) filters += "   state " + word_of(request.state);
  if (request.type) filters += "   type " + printable(*request.type);
  if (request.holder) filters += "   holder " + printable(*request.holder);
  return filters;
}

/// What is wrong, beginning with how old the rows are: the end may not fit.
std::string status_of(const top_state& shown) {
  if (!shown.notice.empty()) return printable(shown.notice);
  const auto rows = shown.age ? "these rows are " + show_duration(*shown.age) + " old"
                              : std::string{"no rows yet"};
  if (!shown.fault.empty()) return rows + ", trying again: " + printable(shown.fault);
  if (shown.waiting && *shown.waiting > unremarkable) {
    return rows + ": no answer for " + show_duration(*shown.waiting);
  }
  return {};
}

bool is_stale(const top_state& shown) {
  return !shown.fault.empty() || (shown.waiting && *shown.waiting > unremarkable);
}

}  // namespace

std::vector<std::string> frame_of(const top_state& shown, std::optional<terminal_size> size) {
  const auto fit = [&](const std::string& text) {
    return size ? without_end(text, size->columns) : text;
  };
  std::vector<std::string> lines;
  lines.push_back(fit("rowlock top   " + printable(shown.table) + "   by " +
                      word_of(shown.request.sort) + "   every " + show_duration(shown.interval) +
                      (shown.is_paused ? "   paused" : "") + "   ? for help"));
  lines.push_back(fit((shown.age ? counts_in(shown) : "reading") + filters_in(shown.request)));
  lines.push_back(fit(status_of(shown)));
  if (shown.has_help) {
    for (const auto line : help) lines.push_back(fit(std::string{line}));
  } else {
    const bool has_row_colors = shown.has_colors && !is_stale(shown);
    const auto room =
        size ? size->lines - std::min(size->lines, lines.size() + 1) : shown.rows.size();
    const bool is_cut = shown.rows.size() > room && room > 0;
    const std::span rows =
        std::span{shown.rows}.first(std::min(shown.rows.size(), is_cut ? room - 1 : room));
    row_table table{size ? std::optional{size->columns} : std::nullopt, has_row_colors};
    auto of_rows = table.lines_of(rows);
    lines.push_back(table.heading());
    for (auto& line : of_rows) {
      const bool is_faint = shown.has_colors && is_stale(shown);
      if (is_faint) line.insert(0, style::faint).append(style::plain);
      lines.push_back(std::move(line));
    }
    if (is_cut) {
      lines.push_back(fit("\u2026 and " + std::to_string(shown.rows.size() - rows.size()) +
                          " more: a higher terminal, or t and h, show them"));
    }
  }
  if (size) lines.resize(size->lines);
  return lines;
}

}  // namespace rowlock::cli
