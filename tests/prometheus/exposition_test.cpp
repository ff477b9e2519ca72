// What Prometheus reads: its format, its names, and its size.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "prometheus/observed_registry.hpp"
#include "prometheus/promtool.hpp"

namespace rowlock::tests {
namespace {

std::set<std::string> names_in_table(const std::string& file) {
  std::ifstream document{file};
  const std::regex row{R"(^\| `(rowlock_[a-z_]+)`.*)"};
  std::set<std::string> found;
  for (std::string line; std::getline(document, line);) {
    std::smatch name;
    if (std::regex_match(line, name, row)) found.insert(name[1]);
  }
  return found;
}

TEST(Exposition, FollowsTheConventionsOfPrometheus) {
  const observed_registry metrics;
  metrics.observe_each_event("job");
  const auto checked = promtool({"check", "metrics"}, metrics.text());
  EXPECT_EQ(checked.code, 0) << checked.errors << checked.output;
  EXPECT_EQ(checked.errors + checked.output, "");
}

TEST(Exposition, StaysValidWhateverATypeIsNamed) {
  const observed_registry metrics;
  for (const auto* type : {"a\"} 1\nrowlock_grants_total{type=\"b", "a\\", "\n# HELP x", "\xff\xfe",
                           "a\tb", "{}", "\"", "job\",mode=\"lease"}) {
    metrics.observe_each_event(type);
  }
  metrics.observe_each_event(std::string("nul\0nul", 7));
  metrics.observe_each_event("");
  const auto checked = promtool({"check", "metrics"}, metrics.text());
  EXPECT_EQ(checked.code, 0) << checked.errors << checked.output;
  EXPECT_EQ(metrics.names(), [] {
    const observed_registry plain;
    plain.observe_each_event("job");
    return plain.names();
  }());
}

TEST(Exposition, IsBoundedWhateverHappens) {
  const observed_registry metrics;
  for (int i = 0; i < 300; ++i) metrics.observe_each_event("type-" + std::to_string(i));
  std::istringstream lines{metrics.text()};
  int series = 0;
  for (std::string line; std::getline(lines, line);) series += line.starts_with('#') ? 0 : 1;
  EXPECT_LE(series, 15'500);
}

TEST(Exposition, OfATypeThatHasLeasesOnlyHas58Series) {
  const observed_registry metrics;
  metrics.observer()->acquired({.key = {.type = "job", .source_id = "a"}});
  std::istringstream lines{metrics.text()};
  int series = 0;
  for (std::string line; std::getline(lines, line);) {
    series += line.find("type=\"job\"") == std::string::npos ? 0 : 1;
  }
  EXPECT_EQ(series, 58);
}

TEST(Exposition, HasTheMetricsThatAreDocumented) {
  const observed_registry metrics;
  metrics.observe_each_event("job");
  EXPECT_EQ(names_in_table(ROWLOCK_DOCUMENTS "/metrics.md"), metrics.names());
}

}  // namespace
}  // namespace rowlock::tests
