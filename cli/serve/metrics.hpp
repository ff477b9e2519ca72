// Metrics in the text format of Prometheus.
#ifndef ROWLOCK_CLI_SERVE_METRICS_HPP
#define ROWLOCK_CLI_SERVE_METRICS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

/// Each type is a series of its own; a server of metrics must not get more of them than this. The
/// types with the most keys have one, all others are added up as `other`.
inline constexpr std::size_t most_metric_types = 100;

/// Of one lock type.
struct type_totals {
  std::uint64_t held = 0;
  std::uint64_t closed = 0;
  std::uint64_t run_out = 0;
  std::uint64_t silent = 0;
  std::uint64_t waited_for = 0;
  std::chrono::microseconds oldest{0};

  [[nodiscard]] std::uint64_t keys() const { return held + closed + run_out; }
  void add(const row_state& row);
  void add(const type_totals& other);
};

/// Adds up rows that `store::list` returns, page by page.
class lock_totals {
 public:
  void add(std::span<const row_state> rows);
  /// The metrics of the lock table.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, type_totals> by_type_;
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
