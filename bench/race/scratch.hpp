// A place for one measurement, which is gone afterwards.
#ifndef ROWLOCK_BENCH_RACE_SCRATCH_HPP
#define ROWLOCK_BENCH_RACE_SCRATCH_HPP

#include "race/plan.hpp"
#include "race/protocol.hpp"

namespace rowlock::race {

class scratch {
 public:
  /// On the server that the environment names: ROWLOCK_TEST_POSTGRES, ROWLOCK_TEST_MARIADB,
  /// ROWLOCK_BENCH_REDIS or ROWLOCK_BENCH_MEMCACHED; SQLite's file in a temporary folder. Throws
  /// std::runtime_error if it names none.
  scratch(engine on, const plan& does);
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch();

  [[nodiscard]] const place& where() const noexcept { return where_; }

 private:
  engine on_;
  place where_;
};

}  // namespace rowlock::race

#endif
