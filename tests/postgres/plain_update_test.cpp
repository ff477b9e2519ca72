// The plain UPDATEs of a row that no other transaction seems to have, and what others do to that
// row before them and between their search and their write.
#include <future>
#include <string>
#include <string_view>
#include <utility>

#include "postgres/postgres_table.hpp"
#include "postgres/pqxx/transaction.hpp"
#include "postgres/sql/leases.hpp"
#include "postgres/sql/spelling.hpp"

namespace rowlock::tests {
namespace {

class PostgresPlainUpdate : public postgres_table {
 protected:
  PostgresPlainUpdate() { acquire_and_release(); }

  void acquire_and_release() {
    const auto granted = acquire(rows_, key_);
    ASSERT_EQ(granted.status, acquire_status::granted);
    ASSERT_EQ(release(rows_, key_, *granted.version), change_answer::done);
  }
  /// By the plain statement alone, which is rolled back. Throws if it waits.
  bool grants_at_once() {
    return changes_at_once(
        postgres::sql::acquire_free,
        postgres::bound_values{key_.type, key_.source_id, mine_.text, std::string{"host:1"},
                               std::int64_t{1'000'000}, std::optional<std::string>{}});
  }
  bool releases_at_once(version granted) {
    return changes_at_once(
        postgres::sql::release,
        postgres::bound_values{key_.type, key_.source_id, mine_.text, granted.number, true});
  }
  bool changes_at_once(std::string_view statement, const postgres::bound_values& values) {
    open_work trying;
    trying.work.exec("set local lock_timeout = '1ms'");
    postgres::pqxx_transaction used{trying.work};
    const rowlock::postgres_table locks{table()};
    return used.execute(postgres::sql::rendered(locks, statement), values).size() == 1;
  }
  [[nodiscard]] std::string locking(std::string_view strength) const {
    return "select from " + name() + row(key_) + " for " + std::string{strength};
  }
  [[nodiscard]] std::string changing() const {
    return "update " + name() + " set fence_count = fence_count + 1" + row(key_);
  }

  static constexpr std::array strengths{"update", "no key update", "share", "key share"};
  postgres_store rows_ = open_store();
};

TEST_F(PostgresPlainUpdate, GrantsARowThatAReleaseOrAnotherWriteLeftFree) {
  EXPECT_TRUE(grants_at_once());
  acquire_and_release();
  {
    open_work writing;
    writing.work.exec(changing());
    writing.work.commit();
  }
  EXPECT_TRUE(grants_at_once());
  acquire_and_release();
  {
    open_work writing;
    writing.work.exec(locking("update"));
    writing.work.exec(changing());
    writing.work.commit();
  }
  EXPECT_TRUE(grants_at_once()) << "locked, then written";
}

TEST_F(PostgresPlainUpdate, FindsNoRowThatAnOpenTransactionHas) {
  for (const auto* strength : strengths) {
    open_work open;
    open.work.exec(locking(strength));
    EXPECT_FALSE(grants_at_once()) << strength;
    open.work.abort();
    acquire_and_release();
  }
  open_work open;
  open.work.exec(changing());
  EXPECT_FALSE(grants_at_once()) << "changed";
}

TEST_F(PostgresPlainUpdate, ReleasesARowThatNoOpenTransactionHas) {
  const auto granted = *acquire(rows_, key_).version;
  for (const auto* strength : {"update", "no key update", "share"}) {
    open_work open;
    open.work.exec(locking(strength));
    EXPECT_FALSE(releases_at_once(granted)) << strength;
    EXPECT_EQ(release(rows_, key_, granted), change_answer::busy) << strength;
    open.work.abort();
    EXPECT_EQ(renew(rows_, key_, granted), change_answer::done) << strength;
  }
  EXPECT_TRUE(releases_at_once(granted));
  EXPECT_EQ(release(rows_, key_, granted), change_answer::done) << "what was undone locked it";
}

TEST_F(PostgresPlainUpdate, LeavesARowThatWasLockedAndNotWrittenToTheNextStatement) {
  for (const auto* strength : strengths) {
    for (const bool is_committed : {false, true}) {
      open_work open;
      open.work.exec(locking(strength));
      is_committed ? open.work.commit() : open.work.abort();
      EXPECT_FALSE(grants_at_once()) << strength;
      acquire_and_release();
      EXPECT_TRUE(grants_at_once()) << strength << ", then written";
      acquire_and_release();
    }
  }
  open_work open;
  open.work.exec(changing());
  open.work.abort();
  EXPECT_FALSE(grants_at_once()) << "a change that was rolled back";
  acquire_and_release();
}

/// A store whose plain statements wait at a gate when they have found their row, and before they
/// write it: for what a type of their columns checks.
class PostgresRaceOfMicroseconds : public postgres_table {
 protected:
  PostgresRaceOfMicroseconds() {
    server_.query("create function " + schema() +
                  ".passes_gate() returns boolean language plpgsql set lock_timeout = '60s' as $$ "
                  "begin if current_setting('application_name') = '" +
                  slow() + "' then perform pg_advisory_xact_lock_shared(" + gate() +
                  "); end if; return true; end $$");
    server_.query("create domain " + schema() + ".gated as text check (" + schema() +
                  ".passes_gate())");
    server_.query("alter table " + name() + " alter correlation_id type " + schema() +
                  ".gated, alter ended_as type " + schema() + ".gated");
    make_pair(slow_rows_);  // of a row that is new
    make_pair(slow_rows_);  // so that the next one is expected to be free
  }

  void make_pair(store& rows) {
    const auto granted = acquire(rows, key_);
    ASSERT_EQ(granted.status, acquire_status::granted);
    ASSERT_EQ(release(rows, key_, *granted.version), change_answer::done);
  }

  [[nodiscard]] std::string slow() const { return "slow_" + schema(); }
  [[nodiscard]] std::string gate() const { return "hashtext('" + schema() + "')"; }

  /// What `call` returns, if `meanwhile` happens between its search and its write.
  template <class Call, class Meanwhile>
  auto interrupted(Call call, const Meanwhile& meanwhile) {
    open_work closed;
    closed.work.exec("select pg_advisory_xact_lock(" + gate() + ")");
    auto answer = std::async(std::launch::async, std::move(call));
    await_wait_for("advisory");
    meanwhile();
    closed.work.commit();
    return answer;
  }
  void await_wait_for(const std::string& what) {
    server_.await("select exists (select from pg_stat_activity where application_name = '" +
                  slow() + "' and wait_event = '" + what + "')");
  }
  [[nodiscard]] auto acquiring() {
    return [this] { return acquire(slow_rows_, key_); };
  }
  [[nodiscard]] std::string for_update() const {
    return "select from " + name() + row(key_) + " for update";
  }

  postgres_store slow_store(std::chrono::milliseconds longest_wait) const {
    return postgres_store{url_with("application_name=" + slow()),
                          {.table = table(),
                           .pool_size = 1,
                           .statement_timeout = 5min,
                           .lock_timeout = longest_wait,
                           .answer_timeout = 6min}};
  }
  postgres_store slow_rows_ = slow_store(60s);
  postgres_store rows_ = open_store();
  const owner_id their_owner_ = make_owner_id();
};

TEST_F(PostgresRaceOfMicroseconds, GivesTheKeyToTheOtherOwnerWhoIsGrantedItMeanwhile) {
  version granted{};
  auto refused = interrupted(acquiring(), [&] {
    auto theirs = request(key_);
    theirs.owner = their_owner_;
    granted = *rows_.acquire(std::array{theirs}).front().version;
  });
  const auto answer = refused.get();
  EXPECT_EQ(answer.status, acquire_status::held);
  EXPECT_EQ(answer.version, granted);
  EXPECT_EQ(rows_.renew(std::array{renew_request{key_, their_owner_, granted, 1h}}).front(),
            change_answer::done);
}

TEST_F(PostgresRaceOfMicroseconds, WaitsForTheTransactionAndThenGrants) {
  for (const bool is_changed : {false, true}) {
    for (const bool is_committed : {false, true}) {
      open_work other;
      auto answer = interrupted(acquiring(), [&] {
        other.work.exec(is_changed ? "update " + name() + " set fence_count = 7" + row(key_)
                                   : for_update());
      });
      await_wait_for("transactionid");
      is_committed ? other.work.commit() : other.work.abort();
      const auto granted = answer.get();
      EXPECT_EQ(granted.status, acquire_status::granted) << is_changed << is_committed;
      EXPECT_EQ(release(slow_rows_, key_, *granted.version), change_answer::done);
    }
  }
}

// For the threads that serve many keys.
TEST_F(PostgresRaceOfMicroseconds, DoesNotExistForARequestThatNeverWaits) {
  const auto is_locked_meanwhile = [this] {
    open_work other;
    EXPECT_EQ(other.work.exec(for_update() + " skip locked").size(), 0);
  };
  auto wanted = request(key_);
  wanted.never_waits = true;
  auto granted = interrupted([&] { return slow_rows_.acquire(std::array{wanted}).front(); },
                             is_locked_meanwhile);
  const release_request ended{.key = key_,
                              .owner = wanted.owner,
                              .version = granted.get().version.value(),
                              .never_waits = true};
  auto released = interrupted([&] { return slow_rows_.release(std::array{ended}).front(); },
                              is_locked_meanwhile);
  EXPECT_EQ(released.get(), change_answer::done);
}

TEST_F(PostgresRaceOfMicroseconds, SaysBusyWhenTheWaitHasItsLimit) {
  auto rows = slow_store(50ms);
  make_pair(rows);
  open_work other;
  auto busy =
      interrupted([&] { return acquire(rows, key_); }, [&] { other.work.exec(for_update()); });
  EXPECT_EQ(busy.get().status, acquire_status::busy);
  other.work.abort();
  const auto granted = acquire(rows, key_);
  EXPECT_EQ(granted.status, acquire_status::granted);

  open_work another;
  auto kept = interrupted([&] { return release(rows, key_, *granted.version); },
                          [&] { another.work.exec(for_update()); });
  EXPECT_EQ(kept.get(), change_answer::busy);
  another.work.abort();
  EXPECT_EQ(release(rows, key_, *granted.version), change_answer::done);
}

TEST_F(PostgresRaceOfMicroseconds, ReleasesWhatIsStillItsOwnAndNothingElse) {
  const auto first = *acquire(slow_rows_, key_).version;
  open_work renewing;
  auto released = interrupted(
      [&] { return release(slow_rows_, key_, first); },
      [&] { renewing.work.exec("update " + name() + " set fence_count = 7" + row(key_)); });
  await_wait_for("transactionid");
  renewing.work.commit();
  EXPECT_EQ(released.get(), change_answer::done);

  const auto second = *acquire(slow_rows_, key_).version;
  auto lost = interrupted(
      [&] { return release(slow_rows_, key_, second); },
      [&] {
        EXPECT_EQ(rows_.force_release({key_, second, "a test"}), force_answer::released);
      });
  EXPECT_EQ(lost.get(), change_answer::lost);
}

}  // namespace
}  // namespace rowlock::tests
