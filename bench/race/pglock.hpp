// pglock for Go (cirello-io).
#ifndef ROWLOCK_BENCH_RACE_PGLOCK_HPP
#define ROWLOCK_BENCH_RACE_PGLOCK_HPP

#include <chrono>
#include <string>
#include <vector>

#include "race/sql_protocol.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::race {

/// A number of a sequence, then an upsert that answers whose number the row has; delete to unlock,
/// each in autocommit. Who is refused sleeps for a whole lease, 20 s unless told otherwise.
class pglock {
 public:
  static std::string tables();
  static std::vector<prepared_statement> statements();
  static constexpr std::chrono::milliseconds pause{20'000};

  bool take(pqxx::connection& on, const lock_key& key);
  void give_back(pqxx::connection& on);

 private:
  std::string owner_ = make_owner_id().text;
  std::string name_;
  std::string number_;
};

}  // namespace rowlock::race

#endif
