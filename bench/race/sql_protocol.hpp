// A protocol that is a few statements for PostgreSQL.
#ifndef ROWLOCK_BENCH_RACE_SQL_PROTOCOL_HPP
#define ROWLOCK_BENCH_RACE_SQL_PROTOCOL_HPP

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "race/connections.hpp"
#include "race/protocol.hpp"

namespace rowlock::race {

// A `Lock` has the statements of one protocol, and the state of one contender:
//   static std::string tables()                        DDL; empty if it needs none
//   static std::vector<prepared_statement> statements()
//   static constexpr std::chrono::milliseconds pause   between two tries; zero: it does not wait
//   bool take(pqxx::connection&, const lock_key&)
//   void give_back(pqxx::connection&)
// and, instead of `pause`, where the lock belongs to its connection and a statement waits for it:
//   static constexpr bool keeps_connection
//   void take_waiting(pqxx::connection&, const lock_key&)

template <class Lock>
class sql_contender final : public polling_contender {
 public:
  explicit sql_contender(connections& pool) : polling_contender{Lock::pause}, pool_{pool} {}

  bool take(const lock_key& key) override { return lock_.take(*pool_.borrow(), key); }
  void give_back() override { lock_.give_back(*pool_.borrow()); }

 private:
  connections& pool_;
  Lock lock_;
};

template <class Lock>
requires Lock::keeps_connection class sql_contender<Lock> final : public contender {
 public:
  explicit sql_contender(connections& pool) : pool_{pool} {}

  bool take(const lock_key& key) override {
    auto connection = pool_.borrow();
    if (!lock_.take(*connection, key)) return false;
    kept_ = std::move(connection);
    return true;
  }
  bool take_waiting(const lock_key& key, const std::stop_token& /*stop*/) override {
    kept_ = pool_.borrow();
    lock_.take_waiting(*kept_, key);
    return true;
  }
  void give_back() override {
    const auto connection = std::exchange(kept_, {});
    lock_.give_back(*connection);
  }

 private:
  connections& pool_;
  connections::borrowed kept_;
  Lock lock_;
};

template <class Lock>
class prepared_connections : public connections {
 public:
  explicit prepared_connections(const place& where) : connections{where, Lock::statements()} {}
};

template <class Lock>
protocol sql_protocol(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::postgres,
          .build = [](const place& where) { execute(where, Lock::tables()); },
          .open = contenders_sharing<sql_contender<Lock>, prepared_connections<Lock>>};
}

/// Throws `failure` unless the statement changed a single row.
inline void expect_one_row(const pqxx::result& changed, const char* failure) {
  if (changed.affected_rows() != 1) throw std::runtime_error{failure};
}

}  // namespace rowlock::race

#endif
