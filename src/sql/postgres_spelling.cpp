// How a statement is written for a lock table on PostgreSQL.
#include "sql/postgres_spelling.hpp"

namespace rowlock::sql {

namespace {

void replace_all(std::string& sql, std::string_view word, std::string_view meaning) {
  for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word, at)) {
    sql.replace(at, word.size(), meaning);
    at += meaning.size();
  }
}

}  // namespace

std::string in_postgres(const postgres_table& table, std::string_view sql) {
  const auto skew = std::to_string(table.clock_skew.count());
  const bool is_one_clock = table.clock_skew == std::chrono::milliseconds::zero();
  auto text = table.table.in(sql);
  replace_all(text, "{skew_ms}", skew);
  replace_all(text, "{long_ago}",
              is_one_clock ? "clock_timestamp()"
                           : "(clock_timestamp() - interval '" + skew + " milliseconds')");
  return text;
}

}  // namespace rowlock::sql
