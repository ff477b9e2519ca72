// Counters of a PostgreSQL server: statements, log bytes, CPU.
#ifndef ROWLOCK_BENCH_RACE_SERVER_METER_HPP
#define ROWLOCK_BENCH_RACE_SERVER_METER_HPP

#include <cstdint>
#include <memory>
#include <pqxx/pqxx>

#include "race/protocol.hpp"

namespace rowlock::race {

struct server_reading {
  std::int64_t statements = 0;    ///< BEGIN and COMMIT included, those of the meter excluded.
  std::int64_t wal_bytes = 0;     ///< Of the whole server.
  std::int64_t transactions = 0;  ///< Ids taken, of the whole server.
  double cpu_seconds = 0;         ///< Of all its processes; 0 if it is not on this machine.
};

struct table_reading {
  std::int64_t dead_rows = 0;
  std::int64_t bytes = 0;
  std::int64_t vacuums = 0;      ///< Automatic ones, of all these tables, since they were created.
  std::int64_t checkpoints = 0;  ///< Of the server, since its statistics were reset.
};

class server_meter {
 public:
  explicit server_meter(const place& where);

  /// Since the meter was made.
  server_reading read();
  /// Of the tables of the place. Sessions report dead rows once a second, and when they end.
  table_reading tables();

 private:
  [[nodiscard]] double cpu_seconds() const;

  std::unique_ptr<pqxx::connection> connection_;
  std::string schema_;
  int postmaster_ = 0;
  std::int64_t queries_ = 0;  // of the meter itself, since the reset
};

}  // namespace rowlock::race

#endif
