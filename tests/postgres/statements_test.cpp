// Rules that the SQL for PostgreSQL keeps, checked in its text.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::tests {
namespace {

/// The texts in the headers of the SQL.
std::vector<std::string> texts_of_sql() {
  constexpr std::string_view begin = "R\"sql(";
  constexpr std::string_view end = ")sql\"";
  std::vector<std::string> texts;
  for (const auto& file : std::filesystem::directory_iterator{ROWLOCK_POSTGRES_SQL}) {
    std::ifstream in{file.path()};
    const std::string all{std::istreambuf_iterator<char>{in}, {}};
    for (auto at = all.find(begin); at != std::string::npos; at = all.find(begin, at)) {
      at += begin.size();
      texts.push_back(all.substr(at, all.find(end, at) - at));
    }
  }
  return texts;
}

/// What stands in `text` from `begin` to the end of its condition, without what is in parentheses.
std::string rest_of_condition(std::string_view text, std::size_t begin) {
  std::string rest;
  int depth = 0;
  for (const char each : text.substr(begin)) {
    if (each == ')' && --depth < 0) break;
    if (depth == 0) rest += each;
    if (each == '(') ++depth;
  }
  for (const auto* next : {"WHERE", "FROM", "RETURNING", "UNION", "SELECT"}) {
    rest.resize(std::min(rest.find(next), rest.size()));
  }
  return rest;
}

bool compares(std::string_view condition, std::string_view column) {
  return condition.find(std::string{column} + " = ") != std::string_view::npos;
}

TEST(PostgresStatements, ThatFindARowByItsCtidNameItsKeyInTheSameCondition) {
  constexpr std::string_view by_ctid = "ctid = ";
  std::size_t found = 0;
  for (const auto& text : texts_of_sql()) {
    for (auto at = text.find(by_ctid); at != std::string::npos; at = text.find(by_ctid, at + 1)) {
      ++found;
      const auto condition = rest_of_condition(text, at);
      EXPECT_TRUE(compares(condition, "lock_type")) << text;
      EXPECT_TRUE(compares(condition, "source_id")) << text;
    }
  }
  EXPECT_GT(found, 0U);
}

}  // namespace
}  // namespace rowlock::tests
