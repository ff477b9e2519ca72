// The columns of a table, and their widths.
#include "cli/text_table.hpp"

#include <algorithm>
#include <numeric>

#include "cli/duration.hpp"
#include "cli/printable.hpp"
#include "cli/shown_row.hpp"

namespace rowlock::cli {

namespace {

constexpr std::size_t gap = 2;
/// To which the columns of rows may be shortened.
constexpr std::size_t least = 6;

std::string left_of(const row_state& row) {
  if (!row.is_live()) return "run out";
  return (row.owned ? "" : "closed ") + show_duration(*row.remaining);
}

std::string_view style_of(const row_state& row) {
  if ((row.owned && !row.is_live()) || row.has_clock_fault()) return style::red;
  if (has_no_sign(row)) return style::yellow;
  return row.is_waited_for ? style::bold : "";
}

}  // namespace

text_table::text_table(std::vector<column> columns, std::optional<std::size_t> width)
    : columns_{std::move(columns)}, width_{width} {
  for (const auto& each : columns_) needed_.push_back(each.name.size());
}

void text_table::fit() {
  used_ = needed_;
  if (!width_) return;
  auto total = std::accumulate(used_.begin(), used_.end(), gap * (columns_.size() - 1));
  for (; total > *width_; --total) {
    std::optional<std::size_t> widest;
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      if (columns_[at].least == 0 || used_[at] <= columns_[at].least) continue;
      if (!widest || used_[at] >= used_[*widest]) widest = at;
    }
    if (!widest) return;
    --used_[*widest];
  }
}

std::string text_table::line(const std::vector<std::string>& texts) const {
  std::string text;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    const auto shortened = columns_[at].loses_end ? without_end : without_middle;
    text += padded(shortened(texts[at], used_[at]), used_[at] + gap);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return width_ ? without_end(text, *width_) : text;
}

std::vector<std::string> text_table::lines_of(const std::vector<row>& rows) {
  for (const auto& each : rows) {
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      needed_[at] = std::max(needed_[at], cell_count(each.texts[at]));
    }
  }
  fit();
  std::vector<std::string> lines;
  lines.reserve(rows.size());
  for (const auto& each : rows) {
    auto& text = lines.emplace_back(line(each.texts));
    if (!each.style.empty()) text.insert(0, each.style).append(style::plain);
  }
  return lines;
}

std::string text_table::heading() const {
  std::vector<std::string> names;
  for (const auto& each : columns_) names.emplace_back(each.name);
  return line(names);
}

row_table::row_table(std::optional<std::size_t> width, bool has_colors)
    : text_table{{{"TYPE", least},
                  {"SOURCE", least},
                  {"HOLDER", least},
                  {"AGE"},
                  {"ALIVE"},
                  {"LEFT"},
                  {.name = "NOTE", .least = least, .loses_end = true}},
                 width},
      has_colors_{has_colors} {}

std::vector<std::string> row_table::lines_of(std::span<const row_state> rows) {
  std::vector<row> shown;
  for (const auto& each : rows) {
    const auto alive = short_liveness_of(each);
    shown.push_back(
        {.texts = {printable(each.key.type), printable(each.key.source_id), printable(each.holder),
                   each.held_for ? show_duration(*each.held_for) : "-", alive.empty() ? "-" : alive,
                   left_of(each),
                   std::string{each.is_waited_for ? "[waited for] " : ""} +
                       (each.asked ? "[asked for] " : "") + printable(each.note)},
         .style = has_colors_ ? style_of(each) : ""});
  }
  return text_table::lines_of(shown);
}

}  // namespace rowlock::cli
