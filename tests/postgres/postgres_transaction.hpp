// Rows that transactions of the application lock and commit against.
#ifndef ROWLOCK_TESTS_POSTGRES_POSTGRES_TRANSACTION_HPP
#define ROWLOCK_TESTS_POSTGRES_POSTGRES_TRANSACTION_HPP

#include <array>

#include "postgres/postgres_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {

using repeatable_read = pqxx::transaction<pqxx::isolation_level::repeatable_read>;

template <class Transaction>
struct opened {
  pqxx::connection connection{postgres_url()};
  Transaction work{connection};
};

class PostgresTransaction : public postgres_table {
 protected:
  PostgresTransaction() { rows_.read(std::array{key_, other_key_}, read_mode::ready_to_commit); }

  [[nodiscard]] outcome<row_lock> lock(pqxx::transaction_base& work, const lock_keys& keys,
                                       const retry_policy& wait = no_wait()) const {
    return lock_rows(work, keys, wait, table());
  }
  /// Whether no transaction has the row locked, read from outside.
  bool is_unlocked(const lock_key& key) {
    return server_.query("select 1 from " + name() + row(key) + " for update skip locked").size() ==
           1;
  }

  postgres_store rows_{postgres_url(), {.table = table()}};
};

}  // namespace rowlock::tests

#endif
