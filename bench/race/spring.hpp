// Spring Integration's JdbcLockRegistry, with its DefaultLockRepository.
#ifndef ROWLOCK_BENCH_RACE_SPRING_HPP
#define ROWLOCK_BENCH_RACE_SPRING_HPP

#include <chrono>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

/// Update, then insert, in one transaction at READ COMMITTED; delete to unlock. Expiry is compared
/// with the client's clock.
class spring {
 public:
  static std::string tables();
  static std::vector<prepared_statement> statements();
  static constexpr std::chrono::milliseconds pause{100};

  bool take(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);

 private:
  std::string client_ = make_owner_id().text;
  std::string key_;
};

}  // namespace rowlock::race

#endif
