// A server that acknowledges commits before they are safe, and crashes.
#include "faults/own_server_test.hpp"

namespace rowlock::tests {
namespace {

class LossyCrash : public own_server_test {
 protected:
  LossyCrash() { start_with_table(losing_commits); }

  /// Grants the key, loses that, and grants it again.
  static lossy_grants lose_a_grant(store& rows, const lock_key& key) {
    observer{server().url()}.ask("checkpoint");  // what is there so far is safe
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
  // What is acknowledged stays in the server's memory for ten seconds, and nothing else writes.
  inline static const std::vector<std::string> losing_commits{
      "synchronous_commit=off", "wal_writer_delay=10s", "bgwriter_lru_maxpages=0", "autovacuum=off",
      "full_page_writes=off"};
};

TEST_F(LossyCrash, VersionsExceedThoseOfGrantsThatWereLost) {
  rows_.prepare(std::array{key_});
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
  rows_.prepare(std::array{key_});
  auto weak = counting_versions(rows_, server().url());
  const auto after = lose_a_grant(weak, key_);
  EXPECT_EQ(after.next, after.lost);
  EXPECT_TRUE(after.lost_one_passes_the_fence);
}

}  // namespace
}  // namespace rowlock::tests
