// ShedLock's JdbcTemplateLockProvider with the database's time, on PostgreSQL.
#ifndef ROWLOCK_BENCH_RACE_SHEDLOCK_HPP
#define ROWLOCK_BENCH_RACE_SHEDLOCK_HPP

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"

namespace rowlock::race {

/// The first attempt at a name in a process inserts, all later ones update; the row stays. Each
/// statement is a transaction of its own. Who is refused does not wait.
class shedlock_statements {
 public:
  static std::string tables();
  static std::vector<prepared_statement> statements();
  static constexpr std::chrono::milliseconds pause{0};

 protected:
  bool take(pqxx::transaction_base& in, const lock_key& key);
  void give_back(pqxx::transaction_base& in);

 private:
  std::set<std::string> known_;
  std::string name_;
};

/// As its users have it: BEGIN, the statement, COMMIT.
class shedlock : public shedlock_statements {
 public:
  bool take(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);
};

/// The best that could be made of it: each statement in autocommit, one round trip.
class shedlock_in_autocommit : public shedlock_statements {
 public:
  bool take(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);
};

}  // namespace rowlock::race

#endif
