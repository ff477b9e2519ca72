// A row that a renewal changes after a fence has found it and before it is locked.
#include <future>
#include <string>
#include <string_view>
#include <utility>

#include "postgres/postgres_table.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "postgres/sql/spelling.hpp"
#include "postgres/sql/transactions.hpp"

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

  struct result {
    std::size_t rows;
    std::string idle_limit;
  };
  /// Of a session that waits for the gate when it has found the row.
  result fence_by(std::string_view statement, version granted) const {
    open_work open{role_.url()};
    postgres::pqxx_transaction used{open.work};
    const rowlock::postgres_table locks{table()};
    const auto fenced = used.execute(
        postgres::sql::rendered(locks, statement),
        postgres::bound_values{key_.type, key_.source_id, granted.number, std::string{"7000ms"}});
    return {fenced.size(),
            open.work.exec("show idle_in_transaction_session_timeout")[0][0].as<std::string>()};
  }

  test_role role_{server_};
};

// It has a lock on the row then, so the server must end the transaction if its client stops.
TEST_F(PostgresChangedMeanwhile, LimitsTheIdleTimeThoughTheRowIsNotFenced) {
  auto rows = open_store();
  const auto granted = *acquire(rows, key_).version;
  for (const auto statement :
       {postgres::sql::fence_one_by_writing, postgres::sql::release_one_with}) {
    open_work closed;
    closed.work.exec("select pg_advisory_xact_lock(" + gate() + ")");
    auto fencing = std::async(std::launch::async, [&] { return fence_by(statement, granted); });
    server_.await("select exists (select from pg_stat_activity where usename = '" + role_.name() +
                  "' and wait_event = 'advisory')");
    EXPECT_EQ(renew(rows, key_, granted), change_answer::done);
    closed.work.commit();
    const auto [count, idle_limit] = fencing.get();
    EXPECT_EQ(count, 0U) << "it was fenced";
    EXPECT_EQ(idle_limit, "7s");
  }
}

}  // namespace
}  // namespace rowlock::tests
