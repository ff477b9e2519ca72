// What rowlock doctor says of a database.
#ifndef ROWLOCK_TESTS_CLI_DIAGNOSIS_HPP
#define ROWLOCK_TESTS_CLI_DIAGNOSIS_HPP

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "cli/cli_test.hpp"

namespace rowlock::tests {

/// All checks but `settings`.
inline const std::set<std::string> everything_but_settings{"clock",
                                                           "connection",
                                                           "fence_privileges",
                                                           "history",
                                                           "history_privileges",
                                                           "lease",
                                                           "list_privileges",
                                                           "lock_privileges",
                                                           "purge_privileges",
                                                           "round_trip",
                                                           "schema",
                                                           "server",
                                                           "table",
                                                           "time_left"};

/// What `rowlock doctor --json` says.
class diagnosis {
 public:
  explicit diagnosis(const words& where)
      : ended_{run_rowlock(words{"doctor"} + where + words{"--json"})} {
    if (ended_.output.empty()) throw std::runtime_error{"no output: " + ended_.errors};
    all_ = nlohmann::json::parse(ended_.output);
    for (const auto& each : all_.at("checks")) checks_[each.at("name")] = each;
  }

  [[nodiscard]] int code() const { return ended_.code; }
  [[nodiscard]] bool is_ok() const { return all_.at("ok"); }
  [[nodiscard]] const std::string& text() const { return ended_.output; }
  [[nodiscard]] const nlohmann::json& operator[](const std::string& name) const {
    return checks_.at(name);
  }
  [[nodiscard]] std::string status(const std::string& name) const {
    return checks_.at(name).at("status");
  }
  [[nodiscard]] std::string advice(const std::string& name) const {
    return checks_.at(name).at("advice");
  }
  /// But that of `settings`: a server for tests may be one that a crash makes forget.
  [[nodiscard]] std::set<std::string> names_with(const std::string& status) const {
    std::set<std::string> names;
    for (const auto& [name, check] : checks_) {
      if (name != "settings" && check.at("status") == status) names.insert(name);
    }
    return names;
  }

 private:
  result ended_;
  nlohmann::json all_;
  std::map<std::string, nlohmann::json> checks_;
};

}  // namespace rowlock::tests

#endif
