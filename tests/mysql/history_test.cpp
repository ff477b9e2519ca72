// The history on MariaDB: an event that is refused is left out, and versions come back with
// triggers.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "mysql/mysql_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/soci_store.hpp"

namespace rowlock::tests {
namespace {

class MysqlHistory : public mysql_test {
 protected:
  MysqlHistory() { migrate_soci(database_.target(), {}, history_option::with); }
};

// Whatever a condition of the table refuses: a full one is refused in the same place.
TEST_F(MysqlHistory, ThatTakesNoEventsStopsNoLock) {
  database_.execute("alter table shared_lock_event add constraint none check (what is null)");
  lock_table locks{rows_};
  EXPECT_EQ(locks.try_acquire(key_)->release(), release_result::released);
  EXPECT_EQ(database_.value("select count(*) from shared_lock_event"), "0");
}

TEST_F(MysqlHistory, WithoutItsTableStopsNoLock) {
  database_.execute("drop table shared_lock_event");
  lock_table locks{rows_};
  EXPECT_EQ(locks.try_acquire(key_)->release(), release_result::released);
}

// The server opens the tables of a trigger before it executes a statement: nothing can be caught.
TEST_F(MysqlHistory, WhoseTableAnotherSessionHasLockedKeepsTheRowsBusyAndLosesNone) {
  soci_store rows{target(), {.lock_timeout = 1s}};
  const auto held = acquire(rows, key_);
  const auto other = connect();
  *other << "lock tables shared_lock_event write";
  EXPECT_EQ(acquire(rows, other_key_).status, acquire_status::busy);
  EXPECT_EQ(release(rows, key_, *held.version), change_answer::busy);
  *other << "unlock tables";
  EXPECT_EQ(acquire(rows, other_key_).status, acquire_status::granted);
  EXPECT_EQ(release(rows, key_, *held.version), change_answer::done);
}

// Releases would do so if the event table had numbers that an INSERT ... SELECT locks.
TEST_F(MysqlHistory, LetsReleasesWaitForNoOther) {
  constexpr int threads = 8;
  constexpr int rounds = 200;
  lock_table locks{rows_, {.batching = {.max_batch = 1}}};
  std::atomic<int> released{0};
  {
    std::vector<std::jthread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([&, thread] {
        for (int round = 0; round < rounds; ++round) {
          auto held = locks.try_acquire({"own", std::to_string(thread)});
          if (held.acquired() && held->release() == release_result::released) ++released;
        }
      });
    }
  }
  EXPECT_EQ(released, threads * rounds);
  EXPECT_EQ(database_.value("select count(*) from shared_lock_event"),
            std::to_string(threads * rounds));
}

TEST_F(MysqlHistory, WithEventsThatAnotherSessionHasLockedIsNotPurged) {
  lock_table locks{rows_};
  locks.try_acquire(key_)->release();
  database_.execute("update shared_lock_event set at = at - interval 2 hour");
  const auto other = connect();
  *other << "begin";
  *other << "select 1 from shared_lock_event for update";
  const auto caught = error_of([&] { rows_.purge_history({.older_than = 1h}); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  *other << "commit";
  EXPECT_EQ(rows_.purge_history({.older_than = 1h}), 1U);
}

// The first grant shows the session that the insert id is hidden, the others are made in a block.
TEST_F(MysqlHistory, LeavesGrantsAndRefusalsAsTheyAre) {
  create(key_);
  create(other_key_);
  const lock_key last{.type = "invoice", .source_id = "44"};
  create(last);
  ASSERT_EQ(acquire(rows_, key_).status, acquire_status::granted);
  for (const auto& key : {other_key_, last}) {
    const auto granted = acquire(rows_, key);
    EXPECT_EQ(granted.status, acquire_status::granted);
    EXPECT_EQ(granted.version->number,
              number("select version from shared_lock where source_id = '" + key.source_id + "'"));
    auto other = request(key);
    other.owner = make_owner_id();
    EXPECT_EQ(rows_.acquire(std::array{other}).front().status, acquire_status::held);
  }
}

// The server does not prepare anew for it what the session has prepared.
TEST_F(MysqlHistory, OfASessionThatMakesGrantsStandsBesideALaterTrigger) {
  const auto acquire_and_release = [&] {
    const auto granted = acquire(rows_, key_);
    ASSERT_EQ(granted.status, acquire_status::granted);
    EXPECT_EQ(release(rows_, key_, *granted.version), change_answer::done);
  };
  for (int i = 0; i < 4; ++i) acquire_and_release();
  database_.execute(
      "create table audit (version bigint);"
      "create trigger audit after update on shared_lock for each row "
      "  insert into audit values (new.version)");
  acquire_and_release();
  EXPECT_EQ(database_.value("select count(*) from audit"), "2");
}

// A trigger hides the version that a statement returns.
TEST_F(MysqlHistory, LeavesAHolderItsVersion) {
  lock_table locks{rows_};
  auto held = locks.try_acquire(key_);
  EXPECT_EQ(std::to_string(held->token().number),
            database_.value("select version from shared_lock"));
  EXPECT_EQ(held->release(), release_result::released);
}

}  // namespace
}  // namespace rowlock::tests
