// Waiting for a lease, woken by the server.
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "support/tcp_proxy.hpp"
#include "support/watched_store.hpp"

namespace rowlock::tests {
namespace {

class PostgresWaiting : public postgres_table {
 protected:
  using attempt = std::future<outcome<lease>>;

  attempt waiter(const retry_policy& wait) {
    return std::async(std::launch::async,
                      [this, wait] { return ours_.try_acquire(key_, {.wait = wait}); });
  }
  /// Reads once and then not for hours.
  static retry_policy without_polls() { return {.first_pause = 24h, .longest_pause = 24h}; }

  void await_mark() {
    server_.await("select waiting_until > clock_timestamp() from " + name() + row(key_));
  }
  [[nodiscard]] std::string listeners() const {
    return " from pg_stat_activity where query = 'LISTEN \"" + channel_ + "\"'";
  }
  void await_listener() { server_.await("select count(*) = 1" + listeners()); }

  postgres_store our_rows_ = open_store();
  postgres_store their_rows_ = open_store();
  lock_table theirs_{their_rows_, {.ttl = 1h}};
  lock_table ours_{our_rows_, {.ttl = 1h}};
  const std::string channel_ = server_.value<std::string>(
      "select 'rowlock_' || '" + table().in("shared_lock") + "'::regclass::oid");
};

TEST_F(PostgresWaiting, IsEndedByAReleaseElsewhereWithoutAPoll) {
  auto held = theirs_.try_acquire(key_);
  auto waiting = waiter(without_polls());
  await_mark();
  ASSERT_EQ(held->release(), release_result::released);
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(PostgresWaiting, IsEndedByAReleaseAmongOthers) {
  const auto mine = request(key_);
  const auto other = request(other_key_);
  const auto granted = their_rows_.acquire(std::array{mine, other});
  auto waiting = waiter(without_polls());
  await_mark();
  their_rows_.release(
      std::array{release_request{key_, mine.owner, granted[0].version.value()},
                 release_request{other_key_, other.owner, granted[1].version.value()}});
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(PostgresWaiting, ListensAgainAfterItsConnectionWasCut) {
  auto held = theirs_.try_acquire(key_);
  auto waiting = waiter(without_polls());
  await_listener();
  const auto cut = server_.value<int>("select pid" + listeners());
  server_.query("select pg_terminate_backend(" + std::to_string(cut) + ")");
  server_.await("select count(*) = 1" + listeners() + " and pid <> " + std::to_string(cut));
  held->release();
  EXPECT_TRUE(waiting.get().acquired());
}

TEST_F(PostgresWaiting, EndsListeningWithItsLockTable) {
  {
    lock_table passing{our_rows_, {.ttl = 1h}};
    const auto held = theirs_.try_acquire(key_);
    EXPECT_FALSE(passing.try_acquire(key_, {.wait = wait_for(50ms)}).acquired());
    await_listener();
  }
  server_.await("select count(*) = 0" + listeners());
}

TEST_F(PostgresWaiting, PollsWhereItWasToldNotToListen) {
  postgres_store polled{postgres_url(), {.table = table(), .wake_up = false}};
  watched_store watched{polled};
  lock_table polling{watched, {.ttl = 1h}};
  auto held = theirs_.try_acquire(key_);
  auto waiting = std::async(std::launch::async,
                            [&] { return polling.try_acquire(key_, {.wait = wait_forever()}); });
  watched.await_refusals(3);
  held->release();
  EXPECT_TRUE(waiting.get().acquired());
  EXPECT_EQ(server_.value<int>("select count(*)::int" + listeners()), 0);
}

/// Records one release.
class release_recorder final : public release_listener {
 public:
  void released(const lock_key& key) noexcept override { received_.set_value(key); }
  void listening() noexcept override { ready_.set_value(); }

  void await_ready() { ready_.get_future().get(); }
  lock_key received() { return received_.get_future().get(); }

 private:
  std::promise<void> ready_;
  std::promise<lock_key> received_;
};

// The second promise cannot be kept twice: a notification of the first release would end the
// process.
TEST_F(PostgresWaiting, NothingIsAnnouncedOfAKeyThatNobodyWatches) {
  release_recorder listening;
  const auto subscribed = our_rows_.listen(listening);
  listening.await_ready();
  theirs_.try_acquire(other_key_)->release();
  const lock_key odd{"invoice", "with space 'and quote"};
  auto held = theirs_.try_acquire(odd);
  our_rows_.read(std::array{odd}, read_mode::watched);
  held->release();
  EXPECT_EQ(listening.received(), odd);
}

/// Records the grants that it is notified of.
class grant_listener final : public release_listener {
 public:
  struct grant {
    lock_key key;
    grant_times lasts;
  };

  void released(const lock_key& /*key*/) noexcept override { ++releases; }
  void taken(const lock_key& key, const grant_times& lasts) noexcept override {
    const std::scoped_lock lock{mutex_};
    received_.push_back({key, lasts});
    changed_.notify_all();
  }
  void listening() noexcept override { ready_.set_value(); }

  void await_ready() { ready_.get_future().get(); }
  grant next() {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, patience, [this] { return !received_.empty(); })) {
      throw std::runtime_error{"no grant was announced"};
    }
    auto first = std::move(received_.front());
    received_.pop_front();
    return first;
  }

  std::atomic<int> releases{0};

 private:
  std::promise<void> ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<grant> received_;  // guarded by mutex_
};

TEST_F(PostgresWaiting, GrantsOfAKeyThatSomebodyWatchesAreAnnouncedAloneAndAmongOthers) {
  grant_listener listening;
  const auto subscribed = our_rows_.listen(listening);
  listening.await_ready();
  const lock_key odd{"invoice", "+12 with space 'and quote"};
  auto held = theirs_.try_acquire(odd);
  our_rows_.read(std::array{odd}, read_mode::watched);
  held->release();
  held = theirs_.try_acquire(odd);
  auto grant = listening.next();
  EXPECT_EQ(grant.key, odd);
  EXPECT_GT(grant.lasts.lease, 59min);
  EXPECT_LE(grant.lasts.lease, 1h);
  EXPECT_GT(grant.lasts.watched_for, 0s);
  EXPECT_LE(grant.lasts.watched_for, 10s);
  held->release();
  their_rows_.acquire(std::array{request(other_key_), request(odd)});
  grant = listening.next();
  EXPECT_EQ(grant.key, odd);
  EXPECT_GT(grant.lasts.lease, 0s);
}

// The statement for rows that are expected to be free does not announce by itself.
TEST_F(PostgresWaiting, AGrantThatNobodyExpectedToBeWatchedIsAnnouncedToo) {
  grant_listener listening;
  const auto subscribed = our_rows_.listen(listening);
  listening.await_ready();
  postgres_store rows{postgres_url(), {.table = table(), .pool_size = 1}};
  const auto pair = [&] {
    const auto granted = acquire(rows, key_);
    ASSERT_EQ(release(rows, key_, *granted.version), change_answer::done);
  };
  for (int i = 0; i < 6; ++i) pair();
  const auto held = acquire(rows, key_);
  our_rows_.read(std::array{key_}, read_mode::watched);
  ASSERT_EQ(release(rows, key_, *held.version), change_answer::done);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
  EXPECT_EQ(listening.next().key, key_);
  EXPECT_EQ(listening.releases, 1);
}

TEST_F(PostgresWaiting, AMarkThatTheDatabaseRefusesFailsNoRead) {
  ASSERT_EQ(acquire(their_rows_, key_).status, acquire_status::granted);
  server_.query("create function " + schema() + ".refuse() returns trigger language plpgsql as " +
                "$$ begin raise exception 'refused'; end $$");
  server_.query("create trigger refusing before update of waiting_until on " + name() +
                " for each row execute function " + schema() + ".refuse()");
  const auto seen = our_rows_.read(std::array{key_}, read_mode::watched);
  ASSERT_TRUE(seen.front());
  EXPECT_TRUE(seen.front()->is_live());
}

// The row was released when the connection is lost under the notification.
TEST_F(PostgresWaiting, AReleaseWhoseAnnouncementFailsIsDone) {
  tcp_proxy proxy{observer::host(), observer::port()};
  postgres_store rows{url_through(proxy), {.table = table(), .pool_size = 1}};
  const auto held = acquire(our_rows_, key_);
  our_rows_.read(std::array{key_}, read_mode::watched);
  proxy.swallow_reply("pg_notify");
  EXPECT_EQ(release(rows, key_, *held.version), change_answer::done);
  EXPECT_EQ(proxy.swallowed(), 1U);
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted) << "on a new connection";
}

TEST_F(PostgresWaiting, WhatIsNoAnnouncementIsNotListenedTo) {
  grant_listener listening;
  const auto subscribed = our_rows_.listen(listening);
  listening.await_ready();
  for (const char* odd : {"", "alone", "+", "+1", "+1 2", "+1 2 alone", "+x 2 a b", "+1 y a b"}) {
    server_.query("select pg_notify('" + channel_ + "', '" + odd + "')");
  }
  server_.query("select pg_notify('" + channel_ + "', '+1 2 invoice 42')");
  EXPECT_EQ(listening.next().key, (lock_key{"invoice", "42"}));
  EXPECT_EQ(listening.releases, 0);
}

TEST_F(PostgresWaiting, AnAnnouncedLeaseOfAThousandYearsIsHeardOfAsOneOfADay) {
  grant_listener listening;
  const auto subscribed = our_rows_.listen(listening);
  listening.await_ready();
  server_.query("select pg_notify('" + channel_ + "', '+30679352223572000 2 invoice 42')");
  EXPECT_EQ(listening.next().lasts.lease, 24h);
}

TEST_F(PostgresWaiting, WordThatWasLeftNotLongAgoIsNotLeftAgain) {
  const auto held = theirs_.try_acquire(key_);
  our_rows_.read(std::array{key_}, read_mode::watched);
  const std::string mark = "select ctid::text || waiting_until from " + name() + row(key_);
  const auto left = server_.value<std::string>(mark);
  our_rows_.read(std::array{key_}, read_mode::watched);
  EXPECT_EQ(server_.value<std::string>(mark), left);
  server_.query("update " + name() + " set waiting_until = clock_timestamp() + interval '4 s'");
  our_rows_.read(std::array{key_}, read_mode::watched);
  EXPECT_TRUE(server_.value<bool>(
      "select waiting_until > clock_timestamp() + interval '5 s' from " + name() + row(key_)));
}

}  // namespace
}  // namespace rowlock::tests
