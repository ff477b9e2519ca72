// The columns of a table of rows, their widths and colours.
#include "cli/row_table.hpp"

#include <algorithm>
#include <numeric>

#include "cli/cells.hpp"
#include "cli/duration.hpp"
#include "cli/printable.hpp"
#include "cli/shown_row.hpp"

namespace rowlock::cli {

namespace {

constexpr std::size_t gap = 2;
constexpr std::array<std::string_view, 7> names{"TYPE",  "SOURCE", "HOLDER", "AGE",
                                                "ALIVE", "LEFT",   "NOTE"};
constexpr std::size_t note = 6;
/// Numbers are not shortened: half of one is another one.
constexpr std::array<bool, 7> may_be_shortened{true, true, true, false, false, false, true};
constexpr std::size_t least_width = 6;

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

row_table::cells row_table::cells_of(const row_state& row) {
  const auto alive = short_liveness_of(row);
  return {printable(row.key.type),
          printable(row.key.source_id),
          printable(row.holder),
          row.held ? show_duration(*row.held) : "-",
          alive.empty() ? "-" : alive,
          left_of(row),
          (row.is_waited_for ? "[waited for] " : "") + printable(row.note)};
}

void row_table::fit() {
  used_ = needed_;
  if (!columns_) return;
  const auto total = [&] {
    return std::accumulate(used_.begin(), used_.end(), gap * (column_count - 1));
  };
  while (total() > *columns_) {
    std::size_t widest = column_count;
    for (std::size_t at = 0; at < column_count; ++at) {
      if (!may_be_shortened.at(at) || used_.at(at) <= least_width) continue;
      if (widest == column_count || used_.at(at) >= used_.at(widest)) widest = at;
    }
    if (widest == column_count) return;
    --used_.at(widest);
  }
}

std::string row_table::line(const cells& of) const {
  std::string text;
  for (std::size_t at = 0; at < column_count; ++at) {
    const auto width = used_.at(at);
    // The beginning of a note says most; of a key or a host the end may be what differs.
    text += padded(at == note ? without_end(of.at(at), width) : without_middle(of.at(at), width),
                   at + 1 == column_count ? 0 : width + gap);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return columns_ ? without_end(text, *columns_) : text;
}

std::vector<std::string> row_table::lines_of(std::span<const row_state> rows) {
  std::vector<cells> all;
  all.reserve(rows.size());
  for (std::size_t at = 0; at < column_count; ++at) {
    needed_.at(at) = std::max(needed_.at(at), names.at(at).size());
  }
  for (const auto& row : rows) {
    const auto& added = all.emplace_back(cells_of(row));
    for (std::size_t at = 0; at < column_count; ++at) {
      needed_.at(at) = std::max(needed_.at(at), cell_count(added.at(at)));
    }
  }
  fit();
  std::vector<std::string> lines;
  lines.reserve(rows.size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const auto begin = has_colors_ ? style_of(rows[at]) : std::string_view{};
    auto text = line(all[at]);
    if (!begin.empty()) text.insert(0, begin).append(style::plain);
    lines.push_back(std::move(text));
  }
  return lines;
}

std::string row_table::heading() const {
  cells all;
  for (std::size_t at = 0; at < column_count; ++at) all.at(at) = names.at(at);
  return line(all);
}

}  // namespace rowlock::cli
