// The leader row of River's job queue, one row for each key.
#ifndef ROWLOCK_BENCH_RACE_RIVER_HPP
#define ROWLOCK_BENCH_RACE_RIVER_HPP

#include <chrono>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

/// Deletes what has run out, inserts unless it is there, in one transaction; to resign, deletes and
/// notifies. The table is UNLOGGED, as River makes it: a crash of the server empties it, and its
/// commits need not wait for the disk. Here nobody listens; it tries again every five seconds.
class river {
 public:
  static std::string tables();
  static std::vector<prepared_statement> statements();
  static constexpr std::chrono::milliseconds pause{5000};

  bool take(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);

 private:
  std::string leader_ = make_owner_id().text;
  std::string name_;
};

}  // namespace rowlock::race

#endif
