// A row that is changed after a statement of the application's transaction has found it and before
// it is locked.
#include <future>
#include <string>

#include "postgres/postgres_table.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "postgres/sql/spelling.hpp"
#include "postgres/sql/transactions.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

class PostgresChangedMeanwhile : public postgres_table {
 protected:
  PostgresChangedMeanwhile() {
    server_.query("alter table " + name() + " enable row level security");
    server_.query("create policy waits on " + name() + " using (pg_advisory_xact_lock_shared(" +
                  gate() + ") is not null)");
    server_.query("grant usage on schema " + schema() + " to " + role_.name());
    server_.query("grant select, update on " + name() + " to " + role_.name());
  }

  [[nodiscard]] std::string gate() const { return "hashtext('" + schema() + "')"; }

  /// What `finds` returns, a session of the role: it finds the row, and then `changes` comes.
  auto overtaken(const auto& finds, const auto& changes) {
    open_work closed;
    closed.work.exec("select pg_advisory_xact_lock(" + gate() + ")");
    auto finding = std::async(std::launch::async, finds);
    server_.await("select exists (select from pg_stat_activity where usename = '" + role_.name() +
                  "' and wait_event = 'advisory')");
    changes();
    closed.work.commit();
    return finding.get();
  }

  bool fence(pqxx::work& work, const std::string& action, version granted) const {
    postgres::pqxx_transaction used{work};
    const rowlock::postgres_table locks{table()};
    const auto answer =
        used.execute(postgres::sql::rendered(locks, postgres::sql::fence_one),
                     postgres::bound_values{key_.type, key_.source_id, granted.number,
                                            std::string{"7000ms"}, action});
    return !answer.front().is_null("version");
  }

  test_role role_{server_};
};

// It has a lock on the row then, so the server must end the transaction if its client stops.
TEST_F(PostgresChangedMeanwhile, LimitsTheIdleTimeWhetherOrNotTheRowIsFenced) {
  auto rows = open_store();
  const auto granted = *acquire(rows, key_).version;
  for (const std::string action : {"write", "share", "release"}) {
    open_work fencing{role_.url()};
    const bool is_fenced =
        overtaken([&] { return fence(fencing.work, action, granted); },
                  [&] { EXPECT_EQ(renew(rows, key_, granted), change_answer::done); });
    EXPECT_EQ(is_fenced, action == "share");  // it writes nothing, so it may find the newer version
    EXPECT_EQ(fencing.work.exec("show idle_in_transaction_session_timeout")[0][0].as<std::string>(),
              "7s");
  }
}

// The holder could neither renew nor release it otherwise.
TEST_F(PostgresChangedMeanwhile, ARefusedRowLockKeepsNoRowOfANewLease) {
  auto rows = open_store();
  rows.read(std::array{key_}, read_mode::ready_to_commit);
  open_work locking{role_.url()};
  acquire_answer granted;
  const auto refused = overtaken(
      [&] { return rowlock::lock_rows(locking.work, key_, no_wait(), table()).refusal().reason; },
      [&] { granted = acquire(rows, key_); });
  ASSERT_EQ(granted.status, acquire_status::granted);
  EXPECT_EQ(refused, refusal_reason::held);
  EXPECT_EQ(renew(rows, key_, *granted.version), change_answer::done);
}

}  // namespace
}  // namespace rowlock::tests
