// Row locks in transactions of the application, and the callers that they hold up.
#include <future>

#include "postgres/postgres_transaction.hpp"

namespace rowlock::tests {
namespace {

TEST_F(PostgresTransaction, RefusedGoesOnWithItsSettingsAndKeepsNoRow) {
  open_work rival;
  ASSERT_TRUE(lock(rival.work, other_key_).acquired());

  open_work open;
  open.work.exec("set local lock_timeout = '1234ms'");
  for (const auto& wait : {no_wait(), wait_for(120ms)}) {
    EXPECT_FALSE(lock(open.work, {key_, other_key_}, wait).acquired());
    EXPECT_TRUE(is_unlocked(key_));
    EXPECT_EQ(open.work.exec("show lock_timeout")[0][0].as<std::string>(), "1234ms");
  }
  rival.work.abort();
  EXPECT_TRUE(lock(open.work, {key_, other_key_}, wait_for(60s)).acquired());
  EXPECT_EQ(open.work.exec("show lock_timeout")[0][0].as<std::string>(), "1234ms");
  open.work.commit();
}

TEST_F(PostgresTransaction, RefusedByALeaseKeepsNoRowSoThatTheHolderCanRenewAndRelease) {
  const auto granted = acquire(rows_, key_);
  open_work open;
  const auto refused = lock(open.work, {key_, other_key_}).refusal();
  EXPECT_EQ(refused.reason, refusal_reason::held);
  EXPECT_EQ(refused.key, key_);
  EXPECT_EQ(refused.holder, "host:1");
  EXPECT_GT(refused.remaining, 30min);
  EXPECT_EQ(refused.current, granted.version);
  EXPECT_EQ(renew(rows_, key_, *granted.version), change_answer::done);
  EXPECT_EQ(release(rows_, key_, *granted.version), change_answer::done);
  EXPECT_TRUE(is_unlocked(other_key_));
}

TEST_F(PostgresTransaction, ThatIsNotRefusedRestoresTheLockTimeoutOfTheSession) {
  open_work open;
  const auto before = open.work.exec("show lock_timeout")[0][0].as<std::string>();
  open_work rival;
  ASSERT_TRUE(lock(rival.work, key_).acquired());
  auto waiting = std::async(std::launch::async,
                            [&] { return lock(open.work, key_, wait_for(60s)).acquired(); });
  server_.await(
      "select count(*) = 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = " +
      std::to_string(open.connection.backendpid()));
  rival.work.commit();
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(open.work.exec("show lock_timeout")[0][0].as<std::string>(), before);
}

TEST_F(PostgresTransaction, WaitsForTheCreatorOfAMissingRowAndThenHasIt) {
  const lock_key fresh{"invoice", "44"};
  open_work creator;
  ASSERT_TRUE(lock(creator.work, fresh).acquired());
  open_work open;
  EXPECT_EQ(lock(open.work, fresh).refusal().reason, refusal_reason::busy);
  auto waiting = std::async(std::launch::async,
                            [&] { return lock(open.work, fresh, wait_for(60s)).acquired(); });
  server_.await(
      "select count(*) = 1 from pg_stat_activity where wait_event = 'advisory' and pid = " +
      std::to_string(open.connection.backendpid()));
  creator.work.abort();
  EXPECT_TRUE(waiting.get());
  open.work.commit();
  EXPECT_TRUE(rows_.read(std::array{fresh})[0]);
}

TEST_F(PostgresTransaction, LeaseStatementsAnswerAtOnceWhileARowIsLocked) {
  const auto granted = acquire(rows_, key_);
  open_work rival;
  rival.work.exec("select from " + name() + row(key_) + " for update");
  EXPECT_EQ(renew(rows_, key_, *granted.version), change_answer::busy);
  EXPECT_EQ(release(rows_, key_, *granted.version), change_answer::busy);
  auto stranger = request(key_);
  stranger.owner = make_owner_id();
  EXPECT_EQ(rows_.acquire(std::array{stranger})[0].status, acquire_status::held);
  // Of several, the others are served.
  const auto other = acquire(rows_, other_key_);
  const auto renewed =
      rows_.renew(std::array{renew_request{key_, mine_, *granted.version, 1h},
                             renew_request{other_key_, mine_, *other.version, 1h}});
  EXPECT_EQ(renewed[0], change_answer::busy);
  EXPECT_EQ(renewed[1], change_answer::done);
  EXPECT_FALSE(is_unlocked(key_)) << "the rival had it all the time";
}

TEST_F(PostgresTransaction, LeaseStatementsAnswerAtOnceWhileARowIsBeingCreated) {
  const lock_key fresh{"invoice", "44"};
  open_work creator;
  ASSERT_TRUE(lock(creator.work, fresh).acquired());
  EXPECT_EQ(acquire(rows_, fresh).status, acquire_status::busy);
  EXPECT_FALSE(rows_.read(std::array{fresh}, read_mode::ready_to_commit)[0]);
  const auto answers = rows_.acquire(std::array{request(fresh), request(key_)});
  EXPECT_EQ(answers[0].status, acquire_status::busy);
  EXPECT_EQ(answers[1].status, acquire_status::granted);
  creator.work.commit();
  EXPECT_EQ(acquire(rows_, fresh).status, acquire_status::granted);
}

TEST_F(PostgresTransaction, AMissingRowDoesNotHoldUpThoseWhoCreateIt) {
  // with_row_lock creates it before its transaction begins, so a lease is refused, not kept
  // waiting.
  const lock_key fresh{"invoice", "44"};
  pqxx::connection connection{postgres_url()};
  const auto done = with_row_lock<pqxx::work>(
      connection, fresh, no_wait(),
      [&](pqxx::work&) {
        EXPECT_TRUE(rows_.read(std::array{fresh})[0]);
        EXPECT_EQ(acquire(rows_, fresh).status, acquire_status::busy);
        return 1;
      },
      table());
  EXPECT_TRUE(done.acquired());
}

TEST_F(PostgresTransaction, CrossingAnotherInOppositeOrderDoesNotDeadlock) {
  constexpr int rounds = 100;
  const auto take_both = [&](const lock_keys& keys) {
    pqxx::connection connection{postgres_url()};
    for (int i = 0; i < rounds; ++i) {
      const auto done = with_row_lock<pqxx::work>(
          connection, keys, wait_for(60s), [](pqxx::work&) {}, table());
      if (!done.acquired()) return false;
    }
    return true;
  };
  auto one = std::async(std::launch::async, [&] { return take_both({key_, other_key_}); });
  auto two = std::async(std::launch::async, [&] { return take_both({other_key_, key_}); });
  EXPECT_TRUE(one.get());
  EXPECT_TRUE(two.get());
}

// The migration's functions have variables, and the table may have more columns than the migration.
TEST_F(PostgresTransaction, IsRefusedByALeaseWhateverColumnsTheTableHas) {
  const auto granted = acquire(rows_, key_);
  std::string columns;
  for (const std::string variable :
       {"callers_timeout", "skew", "deadline", "has_nothing", "longest_slice", "most_keys",
        "most_gates", "locked", "awaited", "has_awaited", "is_hidden", "queue", "has_queue",
        "existing", "created", "is_hopeless", "done", "moved", "fenced"}) {
    columns += (columns.empty() ? " add " : ", add ") + variable + " interval default '-100 years'";
  }
  server_.query("alter table " + name() + columns);
  open_work open;
  EXPECT_EQ(lock(open.work, key_).refusal().reason, refusal_reason::held);
  EXPECT_EQ(lock(open.work, {key_, other_key_}).refusal().reason, refusal_reason::held);
  EXPECT_TRUE(lock(open.work, other_key_).acquired());
  open.work.commit();
  EXPECT_EQ(renew(rows_, key_, *granted.version), change_answer::done);
}

// In the application's transaction its own lock_timeout counts.
TEST_F(PostgresTransaction, BesideALockOfTheWholeTableIsUnavailable) {
  open_work rival;
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  open_work open;
  open.work.exec("set local lock_timeout = '50ms'");
  const auto caught = error_of([&] { (void)lock(open.work, key_); });
  EXPECT_EQ(caught.kind, errc::unavailable);
  EXPECT_NE(caught.message().find("locks the whole table"), std::string::npos) << caught.message();
}

TEST_F(PostgresTransaction, InADeadlockOverTheTableIsToStartAgain) {
  server_.query("create table " + schema() + ".of_work ()");
  const auto lock_work = "lock table " + schema() + ".of_work in access exclusive mode";
  open_work rival;
  // So that the other one finds the deadlock.
  rival.work.exec("set local deadlock_timeout = '1h'");
  rival.work.exec("lock table " + name() + " in access exclusive mode");
  open_work open;
  open.work.exec("set local deadlock_timeout = '5ms'");
  open.work.exec(lock_work);
  auto crossing = std::async(std::launch::async, [&] { rival.work.exec(lock_work); });
  server_.await(
      "select count(*) = 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = " +
      std::to_string(rival.connection.backendpid()));
  EXPECT_EQ(lock(open.work, key_).refusal().reason, refusal_reason::stale);
  open.work.abort();
  crossing.get();
}

}  // namespace
}  // namespace rowlock::tests
