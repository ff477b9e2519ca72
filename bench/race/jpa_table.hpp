// A shared lock table behind JPA entities with @Version, as it is built again and again.
#ifndef ROWLOCK_BENCH_RACE_JPA_TABLE_HPP
#define ROWLOCK_BENCH_RACE_JPA_TABLE_HPP

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

/// Select, insert if absent, versioned update; versioned update to unset. Each side is a
/// transaction whose statements are round trips; the clock is the client's.
class jpa_table {
 public:
  static std::string tables();
  static std::vector<prepared_statement> statements();
  static constexpr std::chrono::milliseconds pause{300};

  bool take(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);

 private:
  bool take(pqxx::work& in, const lock_key& key);

  std::string owner_ = make_owner_id().text;
  std::int64_t id_ = 0;
  std::int64_t version_ = 0;
};

}  // namespace rowlock::race

#endif
