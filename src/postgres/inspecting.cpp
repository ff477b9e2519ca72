// The version of a PostgreSQL server, and the rights of a role there.
#include "postgres/inspecting.hpp"

#include <string_view>

#include "postgres/sql/session.hpp"

namespace rowlock::postgres {

namespace {

inspection::use use_of(std::string_view name) {
  if (name == "fence") return inspection::use::fence;
  if (name == "list") return inspection::use::list;
  if (name == "purge") return inspection::use::purge;
  return name == "record" ? inspection::use::record : inspection::use::lock;
}

}  // namespace

std::vector<int> version_of(executor& exec) {
  const auto number = exec.execute(sql::server_version).front().number("number");
  constexpr int major = 10'000;  // 150018 is 15.18
  return {static_cast<int>(number / major), static_cast<int>(number % major)};
}

std::optional<std::vector<inspection::missing_right>> missing_rights(executor& exec) {
  const auto needed = exec.execute(sql::needed_rights);
  if (needed.front().is_null("is_there")) return std::nullopt;
  std::vector<inspection::missing_right> missing;
  for (const auto row : needed) {
    if (row.is_null("is_there") || row.flag("is_there")) continue;
    missing.push_back({use_of(row.text("used_for")), row.text("wanted")});
  }
  return missing;
}

std::optional<int> connection_limit(executor& exec) {
  const auto found = exec.execute(sql::connection_limit);
  if (found.empty() || found.front().is_null("number")) return std::nullopt;
  return static_cast<int>(found.front().number("number"));
}

}  // namespace rowlock::postgres
