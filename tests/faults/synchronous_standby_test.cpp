// A primary that acknowledges only what its standby has, the standby promoted, and the old primary
// back.
#include <future>

#include "faults/own_server_test.hpp"

namespace rowlock::tests {
namespace {

class SynchronousStandby : public own_server_test {
 protected:
  SynchronousStandby() {
    start_with_table();
    standby_ = postgres_cluster::standby_of(server());
    start_standby();
    server().crash();
    start_primary();
    observer{server().url()}.await(
        "select count(*) = 1 from pg_stat_replication where sync_state = 'sync'");
  }

  void start_standby() {
    standby_->start({"cluster_name=standby", "wal_retrieve_retry_interval=50ms"});
  }
  static void start_primary() { server().start({"synchronous_standby_names=standby"}); }

  void promote_standby() { observer{standby_->url()}.query("select pg_promote(true, 30)"); }

  /// What a call meets that gives up soon; the server's own limit comes first, and does not help.
  errc fault_of_a_hasty_call(const acquire_request& wanted) {
    postgres_store rows{server().url(), {.statement_timeout = 1s, .answer_timeout = 2s}};
    // A busy machine may exceed the limits before.
    await_that([&] { return !kind_thrown_by([&] { (void)rows.list(); }); });
    return error_of([&] { rows.acquire(std::array{wanted}); }).kind;
  }

  /// A key of which the new primary, and no longer the old one, knows a holder.
  lock_key key_taken_after_fail_over() {
    auto key = key_of_its_own();
    postgres_store rows{server().url()};
    rows.read(std::array{key}, read_mode::ready_to_commit);
    server().kill();
    promote_standby();
    postgres_store promoted{standby_->url()};
    const auto granted = promoted.acquire(std::array{request(key)}).front();
    EXPECT_EQ(granted.status, acquire_status::granted);
    return key;
  }

  [[nodiscard]] acquire_request rival(const lock_key& key) const {
    auto attempt = request(key);
    attempt.owner = rival_;
    return attempt;
  }

  std::unique_ptr<postgres_cluster> standby_;
  const owner_id rival_ = make_owner_id();
};

TEST_F(SynchronousStandby, PromotedKnowsEveryGrantThatWasAcknowledged) {
  std::vector<std::pair<lock_key, version>> acknowledged;
  std::promise<void> some;
  auto granting = std::async(std::launch::async, [&] {
    postgres_store rows{server().url()};
    return error_of([&] {
      for (int i = 0;; ++i) {
        const auto key = key_of_its_own('-' + std::to_string(i));
        acknowledged.emplace_back(key, *rows.acquire(std::array{request(key)}).front().version);
        if (i == 100) some.set_value();
      }
    });
  });
  some.get_future().get();
  server().kill();
  promote_standby();
  postgres_store rows{standby_->url()};
  lock_table locks{rows};
  (void)*locks.try_acquire(key_of_its_own());

  const auto kind = granting.get().kind;
  EXPECT_TRUE(kind == errc::outcome_unknown || kind == errc::unavailable);
  for (const auto& [key, granted] : acknowledged) {
    ASSERT_EQ(rows.read(std::array{key}).front()->version, granted);
    ASSERT_EQ(rows.acquire(std::array{rival(key)}).front().status, acquire_status::held);
  }
}

TEST_F(SynchronousStandby, GoneLeavesAGrantInDoubtThatItsReturnMakesGood) {
  const auto key = key_of_its_own();
  postgres_store rows{server().url()};
  rows.read(std::array{key}, read_mode::ready_to_commit);
  standby_->crash();
  EXPECT_EQ(fault_of_a_hasty_call(request(key)), errc::outcome_unknown);
  // Until its standby has it, no other session sees the grant, and none gets the key.
  EXPECT_EQ(rows.acquire(std::array{rival(key)}).front().status, acquire_status::busy);

  start_standby();
  observer{server().url()}.await("select owner is not null from shared_lock where source_id = '" +
                                 key.source_id + '\'');
  const auto same_attempt = rows.acquire(std::array{request(key)}).front();
  EXPECT_EQ(same_attempt.status, acquire_status::granted);
  EXPECT_EQ(rows.acquire(std::array{rival(key)}).front().status, acquire_status::held);
}

TEST_F(SynchronousStandby, GoneAndAwaitedByASessionThatIsCancelledIsCaught) {
  const auto key = key_of_its_own();
  postgres_store rows{server().url()};
  rows.read(std::array{key}, read_mode::ready_to_commit);
  standby_->crash();
  auto granting = std::async(std::launch::async,
                             [&] { return rows.acquire(std::array{request(key)}).front().status; });
  observer operating{server().url()};
  operating.await("select count(*) = 1 from pg_stat_activity where wait_event = 'SyncRep'");
  operating.query(
      "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
  EXPECT_EQ(granting.get(), acquire_status::granted);
}

TEST_F(SynchronousStandby, PromotedLeavesAnOldPrimaryThatComesBackWithoutAGrant) {
  const auto key = key_taken_after_fail_over();
  start_primary();
  EXPECT_EQ(fault_of_a_hasty_call(rival(key)), errc::outcome_unknown);
  // Recovery shows it as granted, and still no server but this one has it.
  server().kill();
  start_primary();
  EXPECT_TRUE(postgres_store{server().url()}.read(std::array{key}).front()->is_live());
  EXPECT_EQ(fault_of_a_hasty_call(rival(key)), errc::outcome_unknown);
}

TEST_F(SynchronousStandby, NoMoreAskedForByAnOldPrimaryThatComesBackIsCaught) {
  const auto key = key_taken_after_fail_over();
  server().start();
  postgres_store of_the_past{server().url()};
  EXPECT_EQ(of_the_past.acquire(std::array{rival(key)}).front().status, acquire_status::granted);
}

}  // namespace
}  // namespace rowlock::tests
