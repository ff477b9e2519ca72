// A fence in a prepared transaction, which has no session that a limit could end.
#include "faults/own_server_test.hpp"

namespace rowlock::tests {
namespace {

class PreparedFence : public own_server_test {
 protected:
  static void execute(const std::string& sql) {
    pqxx::connection connection{server().url()};
    pqxx::nontransaction autocommit{connection};
    autocommit.exec(sql);
  }

  /// Of a lease that has run out in the table before its fence.
  static void fence_and_prepare(const lock_key& key) {
    postgres_store rows{server().url()};
    lock_table locks{rows, {.ttl = 1h, .renew = false}};
    const lease held = *locks.try_acquire(key);
    execute("update shared_lock set expires_at = clock_timestamp() - interval '1 second'");
    pqxx::connection connection{server().url()};
    pqxx::work work{connection};
    fence(work, held);
    work.exec("prepare transaction 'fenced'");
  }

  acquire_answer acquire_anew(const lock_key& key) const {
    postgres_store rows{server().url()};
    return rows.acquire(std::array{request(key)}).front();
  }
};

TEST_F(PreparedFence, KeepsTheKeyOverACrashUntilItsTransactionIsCommitted) {
  const std::vector<std::string> settings{"max_prepared_transactions=1"};
  start_with_table(settings);
  const auto key = key_of_its_own();
  fence_and_prepare(key);
  EXPECT_EQ(acquire_anew(key).status, acquire_status::busy);
  server().crash();
  server().start(settings);
  EXPECT_EQ(acquire_anew(key).status, acquire_status::busy);
  execute("commit prepared 'fenced'");
  EXPECT_EQ(acquire_anew(key).status, acquire_status::granted);
}

}  // namespace
}  // namespace rowlock::tests
