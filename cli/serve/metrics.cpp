// Metrics in the text format of Prometheus.
#include "cli/serve/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <functional>
#include <vector>

#include "base/text.hpp"
#include "cli/printable.hpp"

namespace rowlock::cli {

namespace {

using totals_by_type = std::map<std::string, row_totals>;

/// A lock type with the name `other` is added to the rest: one name is one series.
totals_by_type bounded(const totals_by_type& all) {
  if (all.size() <= most_metric_types) return all;
  std::vector<totals_by_type::const_iterator> largest;
  largest.reserve(all.size());
  for (auto at = all.begin(); at != all.end(); ++at) largest.push_back(at);
  std::stable_sort(largest.begin(), largest.end(), [](const auto& left, const auto& right) {
    return left->second.keys() > right->second.keys();
  });
  totals_by_type few;
  for (std::size_t i = 0; i < largest.size(); ++i) {
    few[i < most_metric_types ? largest[i]->first : "other"].add(largest[i]->second);
  }
  return few;
}

std::string head_of(const char* name, const char* kind, const char* help) {
  return fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, kind, help);
}

/// With six digits behind the point.
std::string in_seconds(std::chrono::duration<double> time) { return std::to_string(time.count()); }

template <class Value>
std::string gauge_by_type(const char* name, const char* help, const totals_by_type& all,
                          const Value& value) {
  std::string text = head_of(name, "gauge", help);
  for (const auto& [type, totals] : all) {
    text +=
        fmt::format("{}{{type=\"{}\"}} {}\n", name, label_value(type), std::invoke(value, totals));
  }
  return text;
}

std::string counter(const char* name, const char* help, std::uint64_t value) {
  return head_of(name, "counter", help) + name + ' ' + std::to_string(value) + '\n';
}

}  // namespace

std::string label_value(std::string_view text) {
  std::string value = detail::is_valid_utf8(text) ? std::string{text} : printable(text);
  boost::replace_all(value, "\\", "\\\\");
  boost::replace_all(value, "\"", "\\\"");
  boost::replace_all(value, "\n", "\\n");
  return value;
}

void lock_totals::add(std::span<const row_state> rows) {
  for (const auto& row : rows) by_type_[row.key.type].add(row);
}

std::string lock_totals::text() const {
  const auto all = bounded(by_type_);
  std::string text = head_of("rowlock_keys", "gauge",
                             "Keys that are held, closed without a holder, or held by a lease that "
                             "has run out, by lock type.");
  for (const auto& [type, totals] : all) {
    const std::string begin = "rowlock_keys{type=\"" + label_value(type) + "\",state=\"";
    text += begin + "held\"} " + std::to_string(totals.held) + '\n';
    text += begin + "closed\"} " + std::to_string(totals.closed) + '\n';
    text += begin + "run_out\"} " + std::to_string(totals.run_out) + '\n';
  }
  text += gauge_by_type("rowlock_oldest_hold_seconds",
                        "How long the oldest hold of the lock type has lasted; 0 without one.", all,
                        [](const auto& totals) { return in_seconds(totals.oldest); });
  text += gauge_by_type("rowlock_silent_holds",
                        "Holds without a renewal for more than half of their lease.", all,
                        &row_totals::silent);
  text += gauge_by_type(
      "rowlock_waited_for_keys",
      "Keys that a process waits for, or did in the last ten seconds (PostgreSQL only).", all,
      &row_totals::waited_for);
  return text;
}

std::string metrics_of_server(bool is_up, const server_counts& counts) {
  std::string text = head_of("rowlock_up", "gauge",
                             "1 when the last read of the lock table succeeded, otherwise 0.");
  text += std::string{"rowlock_up "} + (is_up ? "1" : "0") + '\n';
  text += head_of("rowlock_serve_requests_total", "counter",
                  "Requests that were answered, by path and status.");
  for (const auto& [which, number] : counts.answers) {
    text += fmt::format("rowlock_serve_requests_total{{path=\"{}\",code=\"{}\"}} {}\n",
                        label_value(which.first), which.second, number);
  }
  text += counter("rowlock_serve_database_reads_total",
                  "Reads of the database, failed ones included.", counts.database_reads);
  text += counter("rowlock_serve_database_errors_total", "Reads of the database that failed.",
                  counts.database_faults);
  text += counter("rowlock_serve_dropped_connections_total",
                  "Connections that were closed to make room for others.", counts.dropped);
  return text;
}

}  // namespace rowlock::cli
