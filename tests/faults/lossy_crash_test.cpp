// A server that acknowledges commits before they are safe, and crashes.
#include "faults/own_server_test.hpp"

namespace rowlock::tests {
namespace {

// What need not be on the disk stays in the server's memory for ten seconds, and nothing else
// writes.
std::vector<std::string> and_everything_stays_in_memory(const std::string& setting) {
  return {setting, "wal_writer_delay=10s", "bgwriter_lru_maxpages=0", "autovacuum=off",
          "full_page_writes=off"};
}

class LossyCrash : public own_server_test {
 protected:
  LossyCrash() { start_with_table(losing_commits); }

  /// Grants the key, loses that, and grants it again.
  static lossy_grants lose_a_grant(store& rows, const lock_key& key) {
    observer{server().url()}.query("checkpoint");  // what is there so far is safe
    // An hour: the second grant is only possible because the first one was lost.
    lock_table locks{rows, {.ttl = 1h, .renew = false}};
    const lease lost = *locks.try_acquire(key);
    server().crash();
    server().start(losing_commits);
    const lease next = *locks.try_acquire(key);
    return {lost.token(), next.token(), passes_the_fence(server().url(), lost)};
  }

  postgres_store rows_{server().url()};
  const lock_key key_ = key_of_its_own();

 private:
  inline static const std::vector<std::string> losing_commits =
      and_everything_stays_in_memory("synchronous_commit=off");
};

TEST_F(LossyCrash, VersionsExceedThoseOfGrantsThatWereLost) {
  rows_.read(std::array{key_}, read_mode::ready_to_commit);
  const auto after = lose_a_grant(rows_, key_);
  EXPECT_GT(after.next, after.lost);
  EXPECT_FALSE(after.lost_one_passes_the_fence);
}

TEST_F(LossyCrash, VersionsExceedThoseOfRowsThatWereLost) {
  const auto after = lose_a_grant(rows_, key_);
  EXPECT_GT(after.next, after.lost);
  EXPECT_FALSE(after.lost_one_passes_the_fence);
}

TEST_F(LossyCrash, VersionPlusOneIsCaught) {
  rows_.read(std::array{key_}, read_mode::ready_to_commit);
  auto weak = counting_versions(rows_, server().url());
  const auto after = lose_a_grant(weak, key_);
  EXPECT_EQ(after.next, after.lost);
  EXPECT_TRUE(after.lost_one_passes_the_fence);
}

/// A server that loses nothing but what it need not keep: releases.
class LossyRelease : public own_server_test {
 protected:
  LossyRelease() {
    server().start(losing_releases);
    migrate_postgres(server().url(), {}, history_option::with);
    observer{server().url()}.query("checkpoint");
  }
  void TearDown() override { migrate_postgres(server().url(), {}, history_option::without); }

  release_request granted(const lock_key& key) {
    return {key, mine_, *rows_.acquire(std::array{request(key)}).front().version};
  }
  void release(const release_request& ended) {
    ASSERT_EQ(rows_.release(std::array{ended}).front(), change_answer::done);
  }
  row_state after_a_crash(const lock_key& key) {
    server().crash();
    server().start(losing_releases);
    postgres_store rows{server().url()};
    return *rows.read(std::array{key}).front();
  }

 private:
  inline static const std::vector<std::string> losing_releases =
      and_everything_stays_in_memory("synchronous_commit=on");

 protected:
  postgres_store rows_{server().url()};
  const lock_key key_ = key_of_its_own();
};

TEST_F(LossyRelease, LeavesTheKeyHeldByTheGrantThatWasEnded) {
  const auto ended = granted(key_);
  release(ended);
  const auto row = after_a_crash(key_);
  EXPECT_TRUE(row.owned);
  EXPECT_EQ(row.version, ended.version);
}

TEST_F(LossyRelease, IsForgottenWithTheFailureThatItCounted) {
  auto ended = granted(key_);
  ended.failed = true;
  release(ended);
  const auto row = after_a_crash(key_);
  EXPECT_TRUE(row.owned);
  EXPECT_EQ(row.failure_count, 0);
  postgres_store rows{server().url()};
  const auto events = rows.history({.source_id = key_.source_id}).events;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events.front().what, "granted");
}

// The grant after the lost release has a version of its own, although it counts from an older row.
TEST_F(LossyRelease, LeavesItsVersionStale) {
  const auto ended = granted(key_);
  release(ended);
  const auto seen = rows_.read(std::array{key_}).front()->version;
  after_a_crash(key_);
  observer{server().url()}.query("update shared_lock set expires_at = 'epoch'");
  postgres_store rows{server().url()};
  auto late = request(key_);
  late.expected = seen;
  EXPECT_EQ(rows.acquire(std::array{late}).front().status, acquire_status::stale);
  auto next = request(key_);
  next.owner = make_owner_id();
  EXPECT_GT(*rows.acquire(std::array{next}).front().version, seen);
  EXPECT_EQ(rows.acquire(std::array{late}).front().status, acquire_status::stale);
}

TEST_F(LossyRelease, IsKeptIfItIsToBeDurable) {
  auto ended = granted(key_);
  ended.durable = true;
  release(ended);
  EXPECT_FALSE(after_a_crash(key_).owned);
}

TEST_F(LossyRelease, IsKeptWithWhateverIsGrantedAfterIt) {
  release(granted(key_));
  const auto next = granted(key_of_its_own());
  EXPECT_FALSE(after_a_crash(key_).owned);
  EXPECT_TRUE(rows_.read(std::array{next.key}).front()->owned);
}

TEST_F(LossyRelease, IsKeptWhenItSaysThatWorkIsDone) {
  auto ended = granted(key_);
  ended.done_for = 1h;
  release(ended);
  const auto row = after_a_crash(key_);
  EXPECT_FALSE(row.owned);
  EXPECT_TRUE(row.done);
}

}  // namespace
}  // namespace rowlock::tests
