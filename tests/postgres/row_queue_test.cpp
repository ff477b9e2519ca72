// The order in which transactions get a row that they wait for.
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "postgres/postgres_transaction.hpp"

namespace rowlock::tests {
namespace {

class PostgresRowQueue : public PostgresTransaction {
 protected:
  static int pid_of(const open_work& open) { return open.connection.backendpid(); }

  void await_that_waits(int pid) {
    server_.await("select count(*) = 1 from pg_locks where not granted and pid = " +
                  std::to_string(pid));
  }

  std::future<bool> wait_in(open_work& open, const lock_keys& keys) {
    return std::async(std::launch::async, [this, &open, keys] {
      const bool locked = lock(open.work, keys, wait_for(60s)).acquired();
      if (locked) {
        const std::scoped_lock lock{mutex_};
        order_.push_back(pid_of(open));
      }
      open.work.abort();
      return locked;
    });
  }

  /// Waits behind the waiters of `key_`, and has the first place in the end.
  std::future<void> queue_in(open_work& open) {
    return std::async(std::launch::async, [this, &open] {
      open.work.exec("select pg_advisory_xact_lock(" + queue_of(key_) + ")");
    });
  }

  /// The advisory lock of the waiters of `key`.
  [[nodiscard]] std::string queue_of(const lock_key& key) const {
    return "hashtextextended('" + key.source_id + "', hashtextextended('" + key.type + "', '" +
           name() + "'::regclass::bigint))";
  }

  std::mutex mutex_;
  std::vector<int> order_;  // guarded by mutex_
};

TEST_F(PostgresRowQueue, ServesFirstThoseWhoCameFirst) {
  open_work rival;
  ASSERT_TRUE(lock(rival.work, key_).acquired());
  std::vector<std::unique_ptr<open_work>> queued;
  std::vector<std::future<bool>> waiting;
  std::vector<int> came;
  for (int i = 0; i < 6; ++i) {
    queued.push_back(std::make_unique<open_work>());
    came.push_back(pid_of(*queued.back()));
    waiting.push_back(wait_in(*queued.back(), key_));
    await_that_waits(came.back());
  }
  rival.work.commit();
  for (auto& each : waiting) EXPECT_TRUE(each.get());
  EXPECT_EQ(order_, came);
}

TEST_F(PostgresRowQueue, KeepsThePlaceOfATransactionThatHasNothingElse) {
  open_work rival;
  ASSERT_TRUE(lock(rival.work, key_).acquired());
  open_work open;
  auto waiting = wait_in(open, key_);
  await_that_waits(pid_of(open));
  open_work behind;
  auto next = queue_in(behind);
  // Far longer than one that gives its place up every now and then keeps another one waiting.
  server_.await(
      "select count(*) = 1 from pg_locks join pg_stat_activity using (pid) where not granted and "
      "query_start < clock_timestamp() - interval '300 ms' and pid = " +
      std::to_string(pid_of(behind)));
  rival.work.abort();
  EXPECT_TRUE(waiting.get());
  next.get();
}

TEST_F(PostgresRowQueue, LeavesARowThatIsFreeForAMomentToTheOneWhoIsNext) {
  // As the first waiter has it until it wakes up.
  open_work next;
  next.work.exec("select pg_advisory_xact_lock(" + queue_of(key_) + ")");
  open_work open;
  EXPECT_EQ(lock(open.work, key_).refusal().reason, refusal_reason::busy);
  next.work.abort();
  EXPECT_TRUE(lock(open.work, key_).acquired());
}

TEST_F(PostgresRowQueue, IsNotForATransactionThatHasTheRowAlready) {
  open_work open;
  ASSERT_TRUE(lock(open.work, key_).acquired());
  open_work behind;
  auto waiting = wait_in(behind, key_);
  await_that_waits(pid_of(behind));
  EXPECT_TRUE(lock(open.work, key_).acquired());
  open.work.commit();
  EXPECT_TRUE(waiting.get());
}

TEST_F(PostgresRowQueue, IsLeftBeforeDeadlockTimeoutByATransactionThatHasOtherRows) {
  open_work rival;
  ASSERT_TRUE(lock(rival.work, key_).acquired());
  open_work open;
  open.work.exec("set local deadlock_timeout = '80ms'");
  ASSERT_TRUE(lock(open.work, other_key_).acquired());
  auto waiting = wait_in(open, key_);
  await_that_waits(pid_of(open));
  open_work behind;
  queue_in(behind).get();  // while the rival has the row
  behind.work.abort();
  rival.work.commit();
  EXPECT_TRUE(waiting.get());
}

TEST_F(PostgresRowQueue, IsLeftInTimeForAStatementTimeout) {
  open_work rival;
  ASSERT_TRUE(lock(rival.work, key_).acquired());
  open_work open;
  // It leaves after half of it, and has the other half for being late.
  open.work.exec("set local statement_timeout = '6s'");
  auto waiting = wait_in(open, key_);
  await_that_waits(pid_of(open));
  // A statement that went on waiting would be ended; the wait goes on in a new statement.
  const auto of_session = " from pg_stat_activity where pid = " + std::to_string(pid_of(open));
  const auto first = server_.value<std::string>("select query_start::text" + of_session);
  server_.await("select query_start > '" + first + "'" + of_session);
  rival.work.commit();
  EXPECT_TRUE(waiting.get());
}

}  // namespace
}  // namespace rowlock::tests
