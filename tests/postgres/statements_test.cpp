// What the SQL for PostgreSQL has in common, read in its text.
#include "postgres/sql/statements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::tests {
namespace {

/// The statements that use the table. `PostgresStatements.AreAllRead` fails while one is missing.
std::vector<std::string> statements_of(const sql::postgres_statements& all) {
  return {all.acquire,
          all.acquire_many,
          all.insert,
          all.insert_many,
          all.renew,
          all.renew_many,
          all.release,
          all.release_many,
          all.handoff,
          all.acquire_all,
          all.acquire_any,
          all.look,
          all.leave_word,
          all.announcement_channel,
          all.prepare,
          all.list,
          all.write_note,
          all.used_by,
          all.force_release,
          all.purge,
          all.begin,
          all.commit,
          all.roll_back,
          all.lock_rows,
          all.savepoint,
          all.roll_back_to_savepoint,
          all.release_savepoint,
          all.advance,
          all.count_failures,
          all.fence_by_writing,
          all.fence_by_sharing,
          all.release_with,
          all.fate};
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
  for (const auto& text : statements_of(sql::postgres_statements{"locks"})) {
    for (auto at = text.find(by_ctid); at != std::string::npos; at = text.find(by_ctid, at + 1)) {
      ++found;
      const auto condition = rest_of_condition(text, at);
      EXPECT_TRUE(compares(condition, "lock_type")) << text;
      EXPECT_TRUE(compares(condition, "source_id")) << text;
    }
  }
  EXPECT_GT(found, 0U);
}

// Each of the five has nothing but statements.
TEST(PostgresStatements, AreAllRead) {
  constexpr auto bytes =
      sizeof(sql::postgres_lease_statements) + sizeof(sql::postgres_set_statements) +
      sizeof(sql::postgres_row_statements) + sizeof(sql::postgres_operator_statements) +
      sizeof(sql::postgres_transaction_statements);
  EXPECT_EQ(statements_of(sql::postgres_statements{"locks"}).size(), bytes / sizeof(std::string));
}

}  // namespace
}  // namespace rowlock::tests
