// What a check of rowlock doctor has found.
#ifndef ROWLOCK_CLI_FINDING_HPP
#define ROWLOCK_CLI_FINDING_HPP

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace rowlock::cli {

enum class check_status { ok, warning, failed, skipped };

/// `ok`, `warning`, `failed`, `skipped`.
std::string to_text(check_status shown);

struct finding {
  check_status status = check_status::ok;
  std::string detail;
  /// What may go wrong, and what to do next; empty if all is well.
  std::string advice = {};
  /// The members of the check's JSON object, beside those above.
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
};

inline finding failed(std::string detail, std::string advice) {
  return {check_status::failed, std::move(detail), std::move(advice)};
}

inline finding skipped(std::string why) { return {check_status::skipped, std::move(why)}; }

}  // namespace rowlock::cli

#endif
