// Values in the text of statements, for clients that cannot bind them.
#ifndef ROWLOCK_BENCH_RACE_PLACEHOLDERS_HPP
#define ROWLOCK_BENCH_RACE_PLACEHOLDERS_HPP

#include <string>
#include <vector>

namespace rowlock::race {

/// `sql` with these in the places of $1, $2 ...; none of them contains a `$`.
inline std::string with(std::string sql, const std::vector<std::string>& values) {
  for (auto i = values.size(); i > 0; --i) {  // so that $1 is not found in $10
    const auto place = '$' + std::to_string(i);
    for (auto at = sql.find(place); at != std::string::npos; at = sql.find(place, at)) {
      sql.replace(at, place.size(), values[i - 1]);
    }
  }
  return sql;
}

}  // namespace rowlock::race

#endif
