// A standby is promoted that has not seen the last commits of its primary.
#include <future>
#include <stop_token>

#include "faults/own_server_test.hpp"

namespace rowlock::tests {
namespace {

class Failover : public own_server_test {
 protected:
  Failover() {
    start_with_table();
    standby_ = postgres_cluster::standby_of(server());
    standby_->start();
  }

  /// Whichever of the two is the primary.
  [[nodiscard]] std::string url() const {
    return "host=" + server().host() + ',' + standby_->host() +
           " user=tester dbname=postgres target_session_attrs=read-write";
  }

  /// From here on the standby misses what is committed.
  void cut_off_standby() {
    observer{server().url()}.await(
        "select count(*) = 1 from pg_stat_replication where replay_lsn >= pg_current_wal_lsn()");
    standby_->crash();
  }

  void fail_over() {
    server().crash();
    standby_->start({"wal_retrieve_retry_interval=50ms"});  // how often it tries to reach a primary
    observer{standby_->url()}.query("select pg_promote(true, 30)");
  }

  lossy_grants lose_a_grant(store& rows, const lock_key& key) {
    cut_off_standby();
    lock_table locks{rows, {.ttl = 1h, .renew = false}};
    const lease lost = *locks.try_acquire(key);
    fail_over();
    const lease next = *locks.try_acquire(key);
    return {lost.token(), next.token(), passes_the_fence(url(), lost)};
  }

  std::unique_ptr<postgres_cluster> standby_;
};

TEST_F(Failover, VersionsExceedThoseOfGrantsThatWereLost) {
  postgres_store rows{url()};
  const auto key = key_of_its_own();
  rows.read(std::array{key}, read_mode::ready_to_commit);
  const auto after = lose_a_grant(rows, key);
  EXPECT_GT(after.next, after.lost);
  EXPECT_FALSE(after.lost_one_passes_the_fence);
}

TEST_F(Failover, VersionPlusOneIsCaught) {
  postgres_store rows{url()};
  const auto key = key_of_its_own();
  rows.read(std::array{key}, read_mode::ready_to_commit);
  auto weak = counting_versions(rows, url());
  const auto after = lose_a_grant(weak, key);
  EXPECT_EQ(after.next, after.lost);
  EXPECT_TRUE(after.lost_one_passes_the_fence);
}

TEST_F(Failover, KeepsTheLeasesThatArrivedAndFreesAllOtherKeysWithinTheTtl) {
  constexpr auto ttl = 30s;  // more than a failover takes
  postgres_store rows{url()};
  lock_table locks{rows, {.ttl = ttl}};
  const auto arrived = key_of_its_own("-arrived");
  const auto missed = key_of_its_own("-missed");
  const auto abandoned = key_of_its_own("-abandoned");
  const lease kept = *locks.try_acquire(arrived);
  auto dead = request(abandoned);
  dead.ttl = 3s;
  const auto granted_to_the_dead = *rows.acquire(std::array{dead}).front().version;
  cut_off_standby();
  const lease lost = *locks.try_acquire(missed);
  std::promise<void> caught;
  const std::stop_callback telling{lost.lost(), [&] { caught.set_value(); }};

  fail_over();
  // Its renewal finds no such grant on the new primary.
  EXPECT_EQ(caught.get_future().wait_for(patience), std::future_status::ready);
  EXPECT_TRUE(kept.is_valid());
  EXPECT_TRUE(passes_the_fence(url(), kept));
  EXPECT_FALSE(passes_the_fence(url(), lost));

  lock_table others{rows, {.ttl = ttl}};
  EXPECT_GT((*others.try_acquire(missed, {.wait = wait_for(patience)})).token(), lost.token());
  EXPECT_GT((*others.try_acquire(abandoned, {.wait = wait_for(patience)})).token(),
            granted_to_the_dead);
  EXPECT_EQ(others.try_acquire(arrived).refusal().reason, refusal_reason::held);
}

}  // namespace
}  // namespace rowlock::tests
