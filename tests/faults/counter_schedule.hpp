// What a schedule counts: a row that is read outside the protected transaction and written inside.
#ifndef ROWLOCK_TESTS_FAULTS_COUNTER_SCHEDULE_HPP
#define ROWLOCK_TESTS_FAULTS_COUNTER_SCHEDULE_HPP

#include <optional>
#include <string>
#include <utility>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {

class counter_schedule : public postgres_table {
 protected:
  counter_schedule() {
    server_.query("create table " + counter() + " (n integer not null)");
    server_.query("insert into " + counter() + " values (0)");
  }

  [[nodiscard]] std::string counter() const { return schema() + ".counter"; }

  int read_counter() { return server_.value<int>("select n from " + counter()); }

  void write_counter(pqxx::transaction_base& work, int n) const {
    work.exec("update " + counter() + " set n = " + std::to_string(n));
  }

  void commit_increment(pqxx::work& work, int seen) {
    write_counter(work, seen + 1);
    work.commit();
    ++acknowledged_;
  }

  /// Some increment that was acknowledged is not in the counter.
  bool an_update_was_lost() { return read_counter() != acknowledged_; }

  lease acquire_lease() { return *locks_.try_acquire(key_); }

  /// By the server's clock; no other holder has taken the key over yet.
  void let_lease_run_out() {
    server_.query("update " + name() + " set expires_at = 'epoch'" + row(key_));
  }

  /// Another holder does the same work, with the library's own fence, if it is let in; and goes on
  /// holding the key.
  bool let_successor_count() {
    auto taken = locks_.try_acquire(key_);
    if (!taken.acquired()) return false;
    const lease& held = successor_.emplace(*std::move(taken));
    const int seen = read_counter();
    pqxx::connection connection{postgres_url()};
    run_fenced<pqxx::work>(
        connection, held, [&](pqxx::work& work) { write_counter(work, seen + 1); }, {}, table());
    ++acknowledged_;
    return true;
  }

  postgres_store rows_{postgres_url(), {.table = table()}};
  // Without renewal, so that nothing but the schedule changes the row.
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
  std::optional<lease> successor_;
  int acknowledged_ = 0;
};

}  // namespace rowlock::tests

#endif
