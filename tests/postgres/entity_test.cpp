// Locks and versions of the application's own rows, where PostgreSQL has its own ways.
#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "postgres/postgres_transaction.hpp"
#include "rowlock/retry.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class PostgresEntity : public PostgresTransaction {
 protected:
  PostgresEntity() {
    server_.query("create table " + people_.table +
                  " (id int primary key, version int default 1, coarse timestamptz(0), "
                  "local timestamp default '2001-02-03 04:05:06.000007')");
    server_.query("insert into " + people_.table + " (id, coarse) values (1, now()), (2, now())");
  }

  [[nodiscard]] outcome<void> lock_person(pqxx::transaction_base& work, int id,
                                          const wait_policy& wait) const {
    return lock_entity(work, people_, id, wait);
  }
  static std::string limits(pqxx::transaction_base& work) {
    return work
        .exec(
            "select current_setting('lock_timeout') || ' ' || "
            "current_setting('statement_timeout')")[0][0]
        .as<std::string>();
  }
  /// Returns once the session waits for a lock.
  void await_lock_of(pqxx::connection& waiting) {
    server_.await(
        "select count(*) = 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = " +
        std::to_string(waiting.backendpid()));
  }

  const entity_table people_{.table = schema() + ".person", .id_column = "id"};
};

TEST_F(PostgresEntity, LeavesTheTimeLimitsOfTheTransactionAlone) {
  open_work rival;
  ASSERT_TRUE(lock_person(rival.work, 1, no_wait()).acquired());
  open_work open;
  open.work.exec("set local lock_timeout = '7s'; set local statement_timeout = '8s'");
  EXPECT_EQ(lock_person(open.work, 1, 30ms).refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(limits(open.work), "7s 8s");
  auto waiting = std::async(std::launch::async,
                            [&] { return lock_person(open.work, 1, patience).acquired(); });
  await_lock_of(open.connection);
  rival.work.commit();
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(limits(open.work), "7s 8s");
}

// It would end the transaction.
TEST_F(PostgresEntity, IsRefusedBeforeAStatementTimeoutOfTheTransaction) {
  open_work rival;
  ASSERT_TRUE(lock_person(rival.work, 1, no_wait()).acquired());
  open_work open;
  // More than a busy machine needs for a statement.
  open.work.exec("set local statement_timeout = '3s'");
  EXPECT_EQ(lock_person(open.work, 1, 9s).refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(lock_person(open.work, 2, no_wait()).acquired(), true);
}

// A lock_timeout starts anew for each lock: first for the place in the queue, then for the row. So
// the statement is limited, too; a policy shows with which settings it runs.
TEST_F(PostgresEntity, LimitsTheStatementThatWaitsAsAWhole) {
  server_.query("create table " + schema() + ".seen (lock_timeout text, statement_timeout text)");
  server_.query("create function " + schema() +
                ".see() returns boolean language plpgsql as $$ begin insert into " + schema() +
                ".seen values (current_setting('lock_timeout'), "
                "current_setting('statement_timeout')); return true; end $$");
  server_.query("alter table " + people_.table + " enable row level security");
  server_.query("create policy seen on " + people_.table + " using (" + schema() + ".see())");
  const test_role role{server_};
  server_.query("grant usage on schema " + schema() + " to " + role.name());
  server_.query("grant select, insert, update on all tables in schema " + schema() + " to " +
                role.name());
  open_work rival;
  ASSERT_TRUE(lock_person(rival.work, 1, no_wait()).acquired());
  open_work open;
  open.work.exec("set local statement_timeout = 0; set local role " + role.name());
  auto waiting =
      std::async(std::launch::async, [&] { return lock_person(open.work, 1, 500s).acquired(); });
  await_lock_of(open.connection);
  rival.work.commit();
  EXPECT_TRUE(waiting.get());
  const auto seen = open.work.exec(
      "select distinct extract(epoch from statement_timeout::interval - lock_timeout::interval) * "
      "1000 from " +
      schema() + ".seen where statement_timeout <> '0'");
  ASSERT_EQ(seen.size(), 1);
  EXPECT_EQ(seen[0][0].as<double>(), 20);
}

TEST_F(PostgresEntity, IsRefusedInTimeBehindOthersWhoWait) {
  open_work rival;
  ASSERT_TRUE(lock_person(rival.work, 1, no_wait()).acquired());
  open_work first;
  auto before = std::async(std::launch::async,
                           [&] { return lock_person(first.work, 1, patience).acquired(); });
  await_lock_of(first.connection);
  open_work open;
  EXPECT_EQ(lock_person(open.work, 1, 200ms).refusal().reason, refusal_reason::timed_out);
  EXPECT_TRUE(lock_person(open.work, 2, no_wait()).acquired());
  rival.work.commit();
  EXPECT_TRUE(before.get());
}

TEST_F(PostgresEntity, InADeadlockIsRefusedAsSuchToOneOfTheTwoWhichStaysUsable) {
  open_work one;
  open_work other;
  ASSERT_TRUE(lock_person(one.work, 1, no_wait()).acquired());
  ASSERT_TRUE(lock_person(other.work, 2, no_wait()).acquired());
  // The server picks the victim; the other one waits until that transaction ends.
  const auto lock_or_end = [&](open_work& open, int id) {
    const auto locked = lock_person(open.work, id, patience);
    open.work.exec("select 1");
    open.work.abort();
    return locked.acquired() ? std::nullopt : std::optional{locked.refusal().reason};
  };
  auto waiting = std::async(std::launch::async, [&] { return lock_or_end(one, 2); });
  await_lock_of(one.connection);
  const auto crossing = lock_or_end(other, 1);
  const auto ends = std::set{crossing, waiting.get()};
  EXPECT_EQ(ends,
            (std::set<std::optional<refusal_reason>>{std::nullopt, refusal_reason::deadlock}));
}

TEST_F(PostgresEntity, ThatIsLockedMayBeReferredTo) {
  server_.query("create table " + schema() + ".letter (person int references " + people_.table +
                ")");
  const auto is_taken = [&] {
    open_work writing;
    writing.work.exec("set local lock_timeout = '50ms'");
    try {
      writing.work.exec("insert into " + schema() + ".letter values (1)");
      return true;
    } catch (const pqxx::sql_error& refused) {
      EXPECT_EQ(refused.sqlstate(), "55P03");
      return false;
    }
  };
  auto with_key = people_;
  with_key.lock = entity_lock::for_key_update;
  for (const auto& [table, is_free] : {std::pair{people_, true}, std::pair{with_key, false}}) {
    open_work open;
    ASSERT_TRUE(lock_entity(open.work, table, 1, no_wait()).acquired());
    EXPECT_EQ(is_taken(), is_free);
  }
  // Nor does a transaction that refers to the row keep others from locking it.
  open_work writing;
  writing.work.exec("insert into " + schema() + ".letter values (2)");
  open_work open;
  EXPECT_TRUE(lock_person(open.work, 2, no_wait()).acquired());
  EXPECT_EQ(lock_entity(open.work, with_key, 2, no_wait()).refusal().reason, refusal_reason::busy);
}

TEST_F(PostgresEntity, ChangedAfterTheSnapshotIsStaleAtRepeatableRead) {
  opened<repeatable_read> open;
  open.work.exec("select from " + people_.table);
  server_.query("update " + people_.table + " set version = 8");
  EXPECT_EQ(lock_person(open.work, 1, no_wait()).refusal().reason, refusal_reason::stale);
}

TEST_F(PostgresEntity, WhoseWaitAnOperatorCancelsIsAFault) {
  open_work rival;
  ASSERT_TRUE(lock_person(rival.work, 1, no_wait()).acquired());
  open_work open;
  auto waiting = std::async(std::launch::async, [&] {
    return error_of([&] { (void)lock_person(open.work, 1, wait_forever()); }).kind;
  });
  await_lock_of(open.connection);
  server_.query("select pg_cancel_backend(" + std::to_string(open.connection.backendpid()) + ")");
  EXPECT_EQ(waiting.get(), errc::unavailable);
}

TEST_F(PostgresEntity, OutsideATransactionIsMisuse) {
  pqxx::connection connection{postgres_url()};
  pqxx::nontransaction none{connection};
  EXPECT_EQ(error_of([&] { (void)lock_person(none, 1, no_wait()); }).kind, errc::misuse);
}

TEST_F(PostgresEntity, OfATimeWithoutMicrosecondsIsRejected) {
  const versioned_table coarse{.table = people_.table,
                               .id_column = "id",
                               .version_column = "coarse",
                               .version_is = version_kind::timestamp};
  server_.query("update " + people_.table + " set coarse = '2100-01-01'");
  open_work open;
  const auto seen = *read_version(open.work, coarse, 1);
  const auto caught = error_of([&] { (void)try_commit(open.work, coarse, 1, seen); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("does not have the version that was written"), std::string::npos);
}

TEST_F(PostgresEntity, OfATableOrAColumnThatIsMissingIsRejectedWithWhatIsMissing) {
  open_work one;
  const auto no_table = error_of(
      [&] { (void)lock_entity(one.work, {.table = "nowhere", .id_column = "id"}, 1, no_wait()); });
  EXPECT_EQ(no_table.kind, errc::rejected);
  EXPECT_NE(no_table.message().find("there is no table nowhere"), std::string::npos);
  open_work other;
  const auto no_column = error_of([&] {
    (void)lock_entity(other.work, {.table = people_.table, .id_column = "no"}, 1, no_wait());
  });
  EXPECT_EQ(no_column.kind, errc::rejected);
  EXPECT_NE(no_column.message().find("lacks a column"), std::string::npos);
}

TEST_F(PostgresEntity, OfAnInfiniteTimeIsRejected) {
  server_.query("update " + people_.table + " set coarse = 'infinity'");
  const versioned_table table{.table = people_.table,
                              .id_column = "id",
                              .version_column = "coarse",
                              .version_is = version_kind::timestamp};
  open_work open;
  EXPECT_EQ(try_commit(open.work, table, 1, 0), commit_result::stale);
  EXPECT_EQ(error_of([&] { (void)read_version(open.work, table, 1); }).kind, errc::rejected);
}

TEST_F(PostgresEntity, OfANumberThatIsNoIntegerIsRejected) {
  server_.query("alter table " + people_.table + " alter version type numeric");
  server_.query("update " + people_.table + " set version = 1.5");
  const versioned_table table{
      .table = people_.table, .id_column = "id", .version_column = "version"};
  open_work open;
  EXPECT_EQ(error_of([&] { (void)read_version(open.work, table, 1); }).kind, errc::rejected);
  EXPECT_EQ(try_commit(open.work, table, 1, 2), commit_result::stale);
}

TEST_F(PostgresEntity, OfAVersionThatATriggerSetsBackIsRejected) {
  server_.query("create function " + schema() +
                ".set_back() returns trigger language plpgsql as $$ begin "
                "new.version := old.version; new.coarse := old.coarse; return new; end $$");
  server_.query("create trigger set_back before update on " + people_.table +
                " for each row execute function " + schema() + ".set_back()");
  for (const auto& [column, kind] : std::vector<std::pair<std::string, version_kind>>{
           {"version", version_kind::number}, {"coarse", version_kind::timestamp}}) {
    const versioned_table table{people_.table, "id", column, kind};
    open_work open;
    const auto seen = *read_version(open.work, table, 1);
    EXPECT_EQ(error_of([&] { (void)try_commit(open.work, table, 1, seen); }).kind, errc::rejected);
  }
}

TEST_F(PostgresEntity, OfAViewIsRejectedAndTheTransactionGoesOn) {
  server_.query("create view " + schema() + ".seen_person as with every as (select * from " +
                people_.table + ") select * from every");
  const entity_table view{.table = schema() + ".seen_person", .id_column = "id"};
  open_work open;
  const auto caught = error_of([&] { (void)lock_entity(open.work, view, 1, no_wait()); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("name the table itself"), std::string::npos) << caught.message();
  EXPECT_TRUE(lock_person(open.work, 1, no_wait()).acquired());
}

TEST_F(PostgresEntity, OfAVersionAboveItsColumnsIsStale) {
  const versioned_table table{
      .table = people_.table, .id_column = "id", .version_column = "version"};
  open_work open;
  EXPECT_EQ(try_commit(open.work, table, 1, 1LL << 40), commit_result::stale);
  EXPECT_EQ(try_commit(open.work, table, 1, 1), commit_result::committed);
}

TEST_F(PostgresEntity, OfATextThatTheClientsEncodingMakesAnotherOneIsMisuse) {
  server_.query("create table " + schema() + ".town (name text primary key, version int)");
  // What the bytes of the second are in LATIN1.
  server_.query("insert into " + schema() + ".town values ('\u00c3\u00bc', 1), ('\u00fc', 1)");
  const entity_table towns{.table = schema() + ".town", .id_column = "name"};
  const versioned_table versions{
      .table = towns.table, .id_column = "name", .version_column = "version"};
  const row_id umlaut{"\u00fc"};
  open_work open;
  open.work.exec("set client_encoding to 'LATIN1'");
  const std::vector<std::function<void()>> calls{
      [&] { (void)lock_entity(open.work, towns, umlaut, no_wait()); },
      [&] { (void)read_version(open.work, versions, umlaut); },
      [&] { (void)try_commit(open.work, versions, umlaut, 1); }};
  for (const auto& call : calls) EXPECT_EQ(error_of(call).kind, errc::misuse);
  open.work.exec("set client_encoding to 'UTF8'");
  EXPECT_TRUE(lock_entity(open.work, towns, umlaut, no_wait()).acquired());
}

TEST_F(PostgresEntity, BehindALockOfItsTableIsRefusedInTimeWhateverTheTransactionsLockTimeout) {
  for (const auto* own : {"0", "1h"}) {
    open_work rival;
    rival.work.exec("lock table " + people_.table + " in access exclusive mode");
    open_work open;
    open.work.exec("set local lock_timeout = '" + std::string{own} + "'");
    open.work.exec("set local statement_timeout = '1h'");
    EXPECT_EQ(lock_person(open.work, 1, no_wait()).refusal().reason, refusal_reason::busy);
    EXPECT_EQ(lock_person(open.work, 1, 30ms).refusal().reason, refusal_reason::timed_out);
    auto waiting = std::async(std::launch::async,
                              [&] { return lock_person(open.work, 1, patience).acquired(); });
    await_lock_of(open.connection);
    rival.work.commit();
    EXPECT_TRUE(waiting.get());
    EXPECT_EQ(limits(open.work), std::string{own} + " 1h");
  }
}

// VACUUM locks a catalog for a moment when it truncates it. The table here stands for one.
/// What the server tells the client besides answers.
struct told final : pqxx::errorhandler {
  using pqxx::errorhandler::errorhandler;
  bool operator()(const char message[]) noexcept override {
    text += message;
    if (text.find("still waiting") != std::string::npos) is_waiting = true;
    return false;
  }
  std::string text;
  std::atomic<bool> is_waiting{false};
};

/// The server tells the client of a wait that is longer than 5 ms.
void note_waits(open_work& open) {
  open.work.exec("set local deadlock_timeout = '5ms'");
  open.work.exec("set local log_lock_waits = on");
  open.work.exec("set local client_min_messages = log");
}

TEST_F(PostgresEntity, IsNotRefusedForACatalogThatIsLocked) {
  server_.query("create table " + schema() + ".pg_class as select oid, relkind from pg_class");
  open_work rival;
  rival.work.exec("lock table " + schema() + ".pg_class in access exclusive mode");
  open_work open;
  open.work.exec("set local search_path = " + schema() + ", pg_catalog");
  note_waits(open);
  const told server{open.connection};
  auto waiting = std::async(std::launch::async,
                            [&] { return lock_person(open.work, 1, no_wait()).acquired(); });
  await_that(
      [&] { return server.is_waiting || waiting.wait_for(0s) == std::future_status::ready; });
  rival.work.commit();
  EXPECT_TRUE(waiting.get());
}

TEST_F(PostgresEntity, WaitsLongerThanACatalogIsLockedAlsoForACallThatDoesNotWait) {
  open_work rival;
  rival.work.exec("lock table " + people_.table + " in access exclusive mode");
  open_work open;
  note_waits(open);
  const told server{open.connection};
  EXPECT_EQ(lock_person(open.work, 1, no_wait()).refusal().reason, refusal_reason::busy);
  EXPECT_NE(server.text.find("still waiting"), std::string::npos) << server.text;
}

// A lock behind a savepoint would have another transaction's id, and an update of the row after it
// a multixact.
TEST_F(PostgresEntity, ThatIsFreeIsLockedByTheTransactionItself) {
  open_work open;
  EXPECT_TRUE(lock_person(open.work, 1, patience).acquired());
  EXPECT_EQ(open.work
                .exec("select xmax::text = pg_current_xact_id()::text from " + people_.table +
                      " where id = 1")[0][0]
                .as<bool>(),
            true);
}

TEST_F(PostgresEntity, WithoutThePrivilegeToUpdateIsRejectedAndTheErrorNamesIt) {
  const test_role role{server_};
  server_.query("grant usage on schema " + schema() + " to " + role.name());
  server_.query("grant select on " + people_.table + " to " + role.name());
  open_work open;
  open.work.exec("set local role " + role.name());
  const auto caught = error_of([&] { (void)lock_person(open.work, 1, no_wait()); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("GRANT SELECT, UPDATE"), std::string::npos) << caught.message();
}

// Both are read and written in the session's zone.
TEST_F(PostgresEntity, OfATimeWithoutAZoneMovesInAnyZone) {
  const versioned_table local{.table = people_.table,
                              .id_column = "id",
                              .version_column = "local",
                              .version_is = version_kind::timestamp};
  for (const auto* zone : {"UTC", "Pacific/Auckland", "America/Los_Angeles"}) {
    open_work open;
    open.work.exec("set local timezone = '" + std::string{zone} + "'");
    const auto seen = *read_version(open.work, local, 1);
    EXPECT_EQ(try_commit(open.work, local, 1, seen), commit_result::committed);
    EXPECT_EQ(try_commit(open.work, local, 1, seen), commit_result::stale);
    EXPECT_GT(*read_version(open.work, local, 1), seen);
    EXPECT_LE(open.work
                  .exec("select abs(extract(epoch from localtimestamp - local)) from " +
                        people_.table + " where id = 1")[0][0]
                  .as<double>(),
              3600);
  }
}

}  // namespace
}  // namespace rowlock::tests
