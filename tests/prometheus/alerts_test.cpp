// The alerts and the dashboard of docs/alerts.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

#include "prometheus/observed_registry.hpp"
#include "prometheus/promtool.hpp"

namespace rowlock::tests {
namespace {

const std::string rules = ROWLOCK_DOCUMENTS "/alerts/rules.yml";
const std::string tests_of_rules = ROWLOCK_DOCUMENTS "/alerts/rules_test.yml";
const std::string dashboard = ROWLOCK_DOCUMENTS "/alerts/dashboard.json";

std::string content_of(const std::string& name) {
  std::ifstream file{name};
  std::string content{std::istreambuf_iterator<char>{file}, {}};
  if (content.empty()) throw std::runtime_error{name + " cannot be read"};
  return content;
}

/// All matches of the pattern's first group.
std::multiset<std::string> found_in(const std::string& text, const std::regex& pattern) {
  std::multiset<std::string> found;
  for (std::sregex_iterator at{text.begin(), text.end(), pattern}, end; at != end; ++at) {
    found.insert((*at)[1]);
  }
  return found;
}

std::set<std::string> different(const std::multiset<std::string>& all) {
  return {all.begin(), all.end()};
}

/// The names of metrics, without what a histogram puts behind them.
std::set<std::string> metrics_in(const std::string& text) {
  const std::regex ending{"_(bucket|sum|count)$"};
  std::set<std::string> found;
  for (const auto& name : found_in(text, std::regex{"(rowlock_[a-z_]+)"})) {
    found.insert(std::regex_replace(name, ending, ""));
  }
  return found;
}

observed_registry with_each_event() {
  observed_registry metrics;
  metrics.observe_each_event("job");
  return metrics;
}

class AlertsAndDashboard : public testing::TestWithParam<std::string> {};

TEST_P(AlertsAndDashboard, NameMetricsThatTheObserverExposes) {
  const auto exposed = with_each_event().names();
  const auto named = metrics_in(content_of(GetParam()));
  EXPECT_GE(named.size(), 10U);
  for (const auto& name : named) EXPECT_TRUE(exposed.contains(name)) << name;
}

TEST_P(AlertsAndDashboard, NameValuesOfLabelsThatTheObserverExposes) {
  const auto metrics = with_each_event();
  const auto text = std::regex_replace(content_of(GetParam()), std::regex{R"(\\")"}, "\"");
  for (const auto* label : {"mode", "reason", "result", "operation"}) {
    const auto exposed = metrics.values_of(label);
    const std::regex selector{"[{,]" + std::string{label} + "(?:=|=~|!=|!~)\"([a-z_|]*)\""};
    for (const auto& values : found_in(text, selector)) {
      for (const auto& value : found_in(values, std::regex{"([^|]+)"})) {
        EXPECT_TRUE(exposed.contains(value)) << label << ' ' << value;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Files, AlertsAndDashboard,
                         testing::Values(rules, tests_of_rules, dashboard), [](const auto& file) {
                           const auto name = file.param.substr(file.param.rfind('/') + 1);
                           return std::regex_replace(name, std::regex{"[^a-z]"}, "_");
                         });

TEST(Alerts, AreRulesOfPrometheus) {
  const auto checked = promtool({"check", "rules", "--lint-fatal", rules});
  EXPECT_EQ(checked.code, 0) << checked.output << checked.errors;
}

TEST(Alerts, FireAsTheirTestsSay) {
  const auto tested = promtool({"test", "rules", tests_of_rules});
  EXPECT_EQ(tested.code, 0) << tested.output << tested.errors;
}

TEST(Alerts, EachHasATestInWhichItFires) {
  const auto alerts = found_in(content_of(rules), std::regex{"- alert: ([A-Za-z]+)\n"});
  const auto fired =
      found_in(content_of(tests_of_rules), std::regex{R"rx(alertname="([A-Za-z]+)"\}')rx"});
  EXPECT_GE(alerts.size(), 10U);
  EXPECT_EQ(different(alerts), different(fired));
}

TEST(Alerts, EachSaysWhatHappenedAndWhatToDo) {
  const auto text = content_of(rules);
  const auto alerts = found_in(text, std::regex{"- (alert): "}).size();
  EXPECT_EQ(found_in(text, std::regex{"\n          (summary): \"[^\n]{20,}"}).size(), alerts);
  EXPECT_EQ(found_in(text, std::regex{"\n          (description): >-\n {12}[^\n]{40,}"}).size(),
            alerts);
}

TEST(Dashboard, QueriesTheChosenDataSourceOnly) {
  auto sources = found_in(content_of(dashboard), std::regex{R"rx("uid": "([^"]*)")rx"});
  sources.erase("rowlock");  // the dashboard itself
  EXPECT_EQ(different(sources), std::set<std::string>{"${datasource}"});
}

TEST(Dashboard, HasPanelsWithQueries) {
  const auto panels = nlohmann::json::parse(content_of(dashboard)).at("panels");
  EXPECT_GE(panels.size(), 8U);
  for (const auto& panel : panels) {
    EXPECT_FALSE(panel.at("title").get<std::string>().empty());
    for (const auto& target : panel.at("targets")) {
      EXPECT_NE(target.at("expr").get<std::string>().find("rowlock_"), std::string::npos);
    }
  }
}

/// A metric that no panel shows is one that was forgotten.
TEST(Dashboard, ShowsEachMetric) {
  EXPECT_EQ(metrics_in(content_of(dashboard)), with_each_event().names());
}

}  // namespace
}  // namespace rowlock::tests
