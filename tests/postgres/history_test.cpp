// The history on PostgreSQL, where an event that cannot be written is left out.
#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres_store.hpp"

namespace rowlock::tests {
namespace {

class PostgresHistory : public postgres_table {
 protected:
  PostgresHistory() { migrate_postgres(postgres_url(), table(), history_option::with); }

  static void acquire_and_release(store& rows, const lock_key& key) {
    lock_table locks{rows};
    auto held = locks.try_acquire(key);
    ASSERT_TRUE(held.acquired());
    EXPECT_EQ(held->release(), release_result::released);
  }
  postgres_store rows_ = open_store();
  [[nodiscard]] std::string events() const { return schema() + ".shared_lock_event"; }
  [[nodiscard]] int count() { return server_.value<int>("select count(*)::int from " + events()); }
};

TEST_F(PostgresHistory, WithoutItsTableStopsNoLock) {
  server_.query("drop table " + events());
  acquire_and_release(rows_, key_);
}

// Whatever a condition of the table refuses: a full one is refused in the same place.
TEST_F(PostgresHistory, ThatTakesNoEventsStopsNoLock) {
  server_.query("alter table " + events() + " add check (what is null)");
  acquire_and_release(rows_, key_);
  EXPECT_EQ(count(), 0);
}

// A session without a limit for locks would wait until its statement is cancelled, which no handler
// catches.
TEST_F(PostgresHistory, WhoseTableAnotherSessionHasLockedIsNotWaitedFor) {
  lock_table locks{rows_};
  const auto held = locks.try_acquire(key_);
  open_work other;
  other.work.exec("lock table " + events() + " in access exclusive mode");
  pqxx::connection plain{url_with("options=-cstatement_timeout%3D5s")};
  pqxx::nontransaction{plain}.exec(
      "update " + name() + " set owner = null, expires_at = 'epoch', version = version + 1");
  other.work.commit();
  EXPECT_EQ(count(), 0);
}

TEST_F(PostgresHistory, WhoseTableAnotherSessionHasLockedStopsNoLock) {
  open_work other;
  other.work.exec("lock table " + events() + " in access exclusive mode");
  acquire_and_release(rows_, key_);
  other.work.commit();
  EXPECT_EQ(count(), 0);
  acquire_and_release(rows_, key_);
  EXPECT_EQ(count(), 1);
}

TEST_F(PostgresHistory, IntoWhichARoleMayNotWriteStopsNoLock) {
  test_role role{server_};
  server_.query("grant usage on schema " + schema() + " to " + role.name());
  server_.query("grant select, insert, update on " + name() + " to " + role.name());
  server_.query("grant select on " + schema() + ".shared_lock_schema to " + role.name());
  auto rows = open_store(role.url());
  acquire_and_release(rows, key_);
  EXPECT_EQ(count(), 0);
  server_.query("grant insert on " + events() + " to " + role.name());
  acquire_and_release(rows, key_);
  EXPECT_EQ(count(), 1);
}

// The function looks names up where it is called: in sessions with any search_path.
TEST_F(PostgresHistory, IsWrittenByASessionThatDoesNotSeeItsSchema) {
  migrate_postgres(postgres_url(), table(), history_option::without);
  migrate_postgres(url_with("options=-csearch_path%3D" + schema()), {}, history_option::with);
  lock_table locks{rows_};
  const auto held = locks.try_acquire(key_);
  server_.query("update " + name() +
                " set owner = null, expires_at = 'epoch', version = version + 1");
  EXPECT_EQ(count(), 1);
}

// It would wait for the transaction, and all lock statements would wait behind it.
TEST_F(PostgresHistory, IsNotBegunOrEndedBehindALongTransaction) {
  for (const auto& [before, wanted] : {std::pair{history_option::without, history_option::with},
                                       std::pair{history_option::with, history_option::without}}) {
    migrate_postgres(postgres_url(), table(), before);
    open_work other;
    other.work.exec("lock table " + name() + " in row exclusive mode");
    EXPECT_EQ(error_of([&] { migrate_postgres(postgres_url(), table(), wanted); }).kind,
              errc::unavailable);
  }
}

// As one for all tables does.
TEST_F(PostgresHistory, IsPurgedWhereAPublicationHasItsTable) {
  acquire_and_release(rows_, key_);
  const auto all_are_old = [&] {
    server_.query("update " + events() + " set at = at - interval '2 hours'");
  };
  all_are_old();
  server_.query("create publication " + schema() + " for table " + name() + ", " + name() +
                "_schema, " + events());
  EXPECT_EQ(rows_.purge_history({.older_than = 1h}), 1U);
  server_.query("delete from " + name());

  acquire_and_release(rows_, key_);
  all_are_old();
  server_.query("alter table " + events() + " replica identity nothing");
  const auto caught = error_of([&] { (void)rows_.purge_history({.older_than = 1h}); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("REPLICA IDENTITY FULL"), std::string::npos) << caught.message();
  server_.query("drop publication " + schema());
}

TEST_F(PostgresHistory, OfARolledBackTransactionHasNothing) {
  acquire_and_release(rows_, key_);
  open_work work;
  ASSERT_TRUE(lock_rows(work.work, key_, no_wait(), rowlock::postgres_table{table()}).acquired());
  work.work.abort();
  EXPECT_EQ(count(), 1);
}

}  // namespace
}  // namespace rowlock::tests
