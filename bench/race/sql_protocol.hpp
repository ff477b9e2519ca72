// A protocol that is a few statements for PostgreSQL.
#ifndef ROWLOCK_BENCH_RACE_SQL_PROTOCOL_HPP
#define ROWLOCK_BENCH_RACE_SQL_PROTOCOL_HPP

#include <memory>
#include <string>
#include <utility>

#include "race/connections.hpp"
#include "race/protocol.hpp"

namespace rowlock::race {

// A `Talk` is what one contender says:
//   static std::string tables()                        DDL; empty if it needs none
//   static std::vector<prepared_statement> statements()
//   static constexpr std::chrono::milliseconds pause   between two tries; zero: it does not wait
//   bool take(pqxx::connection&, const lock_key&)
//   void give_back(pqxx::connection&)
// and of one whose lock belongs to its connection, or which waits inside of a statement:
//   static constexpr bool keeps_connection
//   void take_waiting(pqxx::connection&, const lock_key&)

template <class Talk>
class sql_contender final : public polling_contender {
 public:
  explicit sql_contender(connections& pool) : polling_contender{Talk::pause}, pool_{pool} {}

  bool take(const lock_key& key) override {
    auto connection = pool_.borrow();
    return talk_.take(*connection, key);
  }
  void give_back() override {
    const auto connection = pool_.borrow();
    talk_.give_back(*connection);
  }

 private:
  connections& pool_;
  Talk talk_;
};

template <class Talk>
requires Talk::keeps_connection class sql_contender<Talk> final : public contender {
 public:
  explicit sql_contender(connections& pool) : pool_{pool} {}

  bool take(const lock_key& key) override {
    auto connection = pool_.borrow();
    if (!talk_.take(*connection, key)) return false;
    kept_ = std::move(connection);
    return true;
  }
  bool take_waiting(const lock_key& key, const std::stop_token& /*stop*/) override {
    kept_ = pool_.borrow();
    talk_.take_waiting(*kept_, key);
    return true;
  }
  void give_back() override {
    const auto connection = std::exchange(kept_, {});
    talk_.give_back(*connection);
  }

 private:
  connections& pool_;
  connections::borrowed kept_;
  Talk talk_;
};

template <class Talk>
class sql_entrance final : public entrance {
 public:
  explicit sql_entrance(const place& where) : pool_{where, Talk::statements()} {}
  std::unique_ptr<contender> enter() override {
    return std::make_unique<sql_contender<Talk>>(pool_);
  }

 private:
  connections pool_;
};

template <class Talk>
protocol sql_protocol(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::postgres,
          .build = [](const place& where) { execute(where, Talk::tables()); },
          .open = [](const place& where) { return std::make_unique<sql_entrance<Talk>>(where); }};
}

/// A prepared statement.
template <class... Values>
pqxx::result say(pqxx::transaction_base& in, const char* name, const Values&... values) {
  return in.exec_prepared(name, values...);
}

}  // namespace rowlock::race

#endif
