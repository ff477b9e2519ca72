// userver's distributed lock on PostgreSQL.
#ifndef ROWLOCK_BENCH_RACE_USERVER_HPP
#define ROWLOCK_BENCH_RACE_USERVER_HPP

#include <chrono>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

/// An upsert that only writes over a row that is ours or has run out; delete to unlock, each in
/// autocommit. Tries again after a tenth of the lease: 100 ms for the one second that it suggests.
class userver {
 public:
  static std::string tables();
  static std::vector<prepared_statement> statements();
  static constexpr std::chrono::milliseconds pause{100};

  bool take(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);

 private:
  std::string owner_ = make_owner_id().text;
  std::string name_;
};

}  // namespace rowlock::race

#endif
