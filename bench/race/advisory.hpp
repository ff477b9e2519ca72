// PostgreSQL's advisory locks: in the server's memory, tied to a connection.
#ifndef ROWLOCK_BENCH_RACE_ADVISORY_HPP
#define ROWLOCK_BENCH_RACE_ADVISORY_HPP

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"

namespace rowlock::race {

/// Keeps its connection for as long as it has the key. No lease, no version, nothing on the disk.
class session_advisory {
 public:
  static std::string tables() { return {}; }
  static std::vector<prepared_statement> statements();
  static constexpr bool keeps_connection = true;

  bool take(pqxx::connection& on, const lock_key& key);
  void take_waiting(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);

 private:
  std::string name_;
};

/// The same, until the end of a transaction.
class transaction_advisory {
 public:
  static std::string tables() { return {}; }
  static std::vector<prepared_statement> statements();
  static constexpr bool keeps_connection = true;

  bool take(pqxx::connection& on, const lock_key& key);
  void take_waiting(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);

 private:
  std::unique_ptr<pqxx::work> open_;
};

}  // namespace rowlock::race

#endif
