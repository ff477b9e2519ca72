// Requests that are carried out, and whose replies get lost.
#include <functional>
#include <memory>

#include "faults/proxied_table.hpp"
#include "rowlock/clock.hpp"

namespace rowlock::tests {
namespace {

class LostReply : public proxied_table {
 protected:
  LostReply() {
    server_.query("create table " + counter() + " (n integer not null)");
    server_.query("insert into " + counter() + " values (0)");
    // Connected, and everything prepared: from here on a request is a statement that is executed.
    // And a free row is expected, by the statement for that.
    for (int i = 0; i < 3; ++i) {
      const auto granted = acquire(rows_, other_key_);
      renew(rows_, other_key_, *granted.version);
      release(rows_, other_key_, *granted.version);
    }
  }

  [[nodiscard]] std::string counter() const { return schema() + ".counter"; }
  int read_counter() { return server_.value<int>("select n from " + counter()); }

  void expect_doubt(const std::function<void()>& call) {
    const auto swallowed = proxy_.swallowed();
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::outcome_unknown) << caught.message();
    EXPECT_EQ(proxy_.swallowed(), swallowed + 1);
  }

  postgres_store rows_{url(), {.table = table(), .pool_size = 1}};
};

TEST_F(LostReply, ToAnAcquireIsAnUnknownOutcomeAndTheSameAttemptAdoptsItsGrant) {
  acquire(direct_, key_);
  release(direct_, key_, row_of(key_).version);
  proxy_.swallow_reply();
  expect_doubt([&] { acquire(rows_, key_); });
  const auto granted = row_of(key_);
  ASSERT_TRUE(granted.is_live());
  const auto adopted = acquire(rows_, key_);
  EXPECT_EQ(adopted.status, acquire_status::granted);
  EXPECT_EQ(adopted.version, granted.version);
  EXPECT_EQ(row_of(key_).version, granted.version);
  EXPECT_EQ(row_of(key_).acquired_at, granted.acquired_at);
}

TEST_F(LostReply, ToAnAcquireIsNotNoticedByWhoAsksTheLockTable) {
  lock_table locks{rows_, {.ttl = 1h, .renew = false}};
  { const lease before = *locks.try_acquire(key_); }
  proxy_.swallow_reply();
  const lease held = *locks.try_acquire(key_);
  EXPECT_EQ(proxy_.swallowed(), 1U);
  EXPECT_TRUE(held.is_valid());
  EXPECT_EQ(held.token(), row_of(key_).version);
  EXPECT_EQ(row_of(key_).expiry_count, 0);
}

// After a refusal the next try is a plain read, which could have granted nothing.
TEST_F(LostReply, ToARefusalIsNotNoticedByWhoAsksTheLockTable) {
  lock_table locks{rows_, {.ttl = 1h, .renew = false}};
  acquire(direct_, key_);
  ASSERT_FALSE(locks.try_acquire(key_).acquired());
  proxy_.swallow_reply();
  EXPECT_EQ(locks.try_acquire(key_).refusal().reason, refusal_reason::held);
  EXPECT_EQ(proxy_.swallowed(), 1U);
}

TEST_F(LostReply, ToARenewalEndsNoLease) {
  const auto time = std::make_shared<manual_time>();
  lock_table locks{rows_, {.ttl = 3h, .time = time}};
  const lease held = *locks.try_acquire(key_);
  const auto until = held.valid_until();
  proxy_.swallow_reply();
  time->advance(1h);
  // The second try is due a second after the first has failed.
  EXPECT_TRUE(comes([&] { return held.valid_until() > until; }, [&] { time->advance(1ms); }));
  EXPECT_EQ(proxy_.swallowed(), 1U);
  EXPECT_EQ(held.token(), row_of(key_).version);
}

TEST_F(LostReply, ToARenewalIsAskedForAgainWithoutFurtherEffect) {
  const auto granted = *acquire(rows_, key_).version;
  proxy_.swallow_reply();
  expect_doubt([&] { renew(rows_, key_, granted); });
  EXPECT_EQ(renew(rows_, key_, granted), change_answer::done);
  EXPECT_EQ(row_of(key_).version, granted);
}

TEST_F(LostReply, ToAReleaseIsAskedForAgainWithoutFurtherEffect) {
  const auto granted = *acquire(rows_, key_).version;
  proxy_.swallow_reply();
  expect_doubt([&] { release(rows_, key_, granted); });
  const auto unset = row_of(key_);
  EXPECT_FALSE(unset.owned);
  EXPECT_EQ(release(rows_, key_, granted), change_answer::lost);
  EXPECT_EQ(row_of(key_).version, unset.version);
}

TEST_F(LostReply, ToAReleaseThatIsRepeatedLeavesTheSuccessorItsKey) {
  version successor{};
  {
    lock_table locks{rows_, {.ttl = 1h, .renew = false}};
    lease held = *locks.try_acquire(key_);
    proxy_.swallow_reply();
    EXPECT_EQ(held.release(), release_result::deferred);
    successor = *acquire(direct_, key_).version;
  }  // the repetition has been made
  EXPECT_TRUE(row_of(key_).is_live());
  EXPECT_EQ(row_of(key_).version, successor);
}

TEST_F(LostReply, ToTheCommitOfAFencedRunIsAnUnknownOutcomeAndIsNotRunAgain) {
  lock_table locks{direct_, {.ttl = 1h, .renew = false}};
  const lease held = *locks.try_acquire(key_);
  pqxx::connection connection{url()};
  int runs = 0;
  proxy_.swallow_reply("COMMIT");
  expect_doubt([&] {
    run_fenced<pqxx::work>(
        connection, held,
        [&](pqxx::work& work) {
          ++runs;
          work.exec("update " + counter() + " set n = n + 1");
        },
        {}, table());
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(read_counter(), 1);
}

TEST_F(LostReply, ToTheCommitUnderARowLockIsAnUnknownOutcomeAndIsNotRunAgain) {
  direct_.read(std::array{key_},
               read_mode::ready_to_commit);  // creating the row is a commit of its own
  pqxx::connection connection{url()};
  int runs = 0;
  proxy_.swallow_reply("COMMIT");
  expect_doubt([&] {
    (void)with_row_lock<pqxx::work>(
        connection, key_, no_wait(),
        [&](pqxx::work& work) {
          ++runs;
          work.exec("update " + counter() + " set n = n + 1");
        },
        table());
  });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(read_counter(), 1);
}

}  // namespace
}  // namespace rowlock::tests
