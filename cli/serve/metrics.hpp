// Metrics in the text format of Prometheus.
#ifndef ROWLOCK_CLI_SERVE_METRICS_HPP
#define ROWLOCK_CLI_SERVE_METRICS_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "cli/shown_row.hpp"

namespace rowlock::cli {

/// Each type is a series of its own; a server of metrics must not get more of them than this. The
/// types with the most keys have one, all others are added up as `other`.
inline constexpr std::size_t most_metric_types = 100;

/// Adds up rows that `store::list` returns, page by page.
class lock_totals {
 public:
  void add(std::span<const row_state> rows);
  /// The metrics of the lock table.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, row_totals> by_type_;
};

struct server_counts {
  /// Answers by path and status.
  std::map<std::pair<std::string, int>, std::uint64_t> answers = {};
  std::uint64_t database_reads = 0;
  std::uint64_t database_faults = 0;
  /// Connections that were closed because there were too many.
  std::uint64_t dropped = 0;
};

/// `rowlock_up`, and what this process has done.
std::string metrics_of_server(bool is_up, const server_counts& counts);

/// A value of a label: backslash, quote and line feed are escaped, and what is not UTF-8.
std::string label_value(std::string_view text);

}  // namespace rowlock::cli

#endif
