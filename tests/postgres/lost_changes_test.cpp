// Policies of row-level security and triggers that keep a row from being changed without an error.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/fence.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"

namespace rowlock::tests {
namespace {

/// Stores and transactions of a role that may do all with the tables, and has what policies there
/// are.
class PostgresLostChanges : public postgres_table {
 protected:
  PostgresLostChanges() {
    server_.query("grant usage on schema " + schema() + " to " + role_.name());
    server_.query("grant all on all tables in schema " + schema() + " to " + role_.name());
  }

  void secure(const std::vector<std::string>& policies, const std::string& companion = "") {
    const std::string secured = name() + companion;
    server_.query("alter table " + secured + " enable row level security");
    for (const auto& each : policies) {
      server_.query("create policy p" + std::to_string(++policies_) + " on " + secured + ' ' +
                    each);
    }
  }
  /// Rows are changed by `event` only where `condition` does not hold.
  void drop_changes(const std::string& event, const std::string& condition) {
    server_.query("create function " + schema() +
                  ".drop_it() returns trigger language plpgsql as " +
                  "$$ begin return null; end $$");
    server_.query("create trigger dropping before " + event + " on " + name() +
                  " for each row when (" + condition + ") execute function " + schema() +
                  ".drop_it()");
  }

  void expect_refusal(const std::function<void()>& call, const std::string& words) {
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("row-level security"), std::string::npos) << caught.message();
    EXPECT_NE(caught.message().find(words), std::string::npos) << caught.message();
    EXPECT_EQ(caught.message().find("GRANT"), std::string::npos) << caught.message();
  }

  const test_role role_{server_};
  int policies_ = 0;
};

TEST_F(PostgresLostChanges, AreRefusedAtTheFirstUseWhereACommandHasNoPolicy) {
  const auto is_used = [&] {
    auto rows = open_store(role_.url());
    const auto granted = acquire(rows, key_);
    EXPECT_EQ(renew(rows, key_, *granted.version), change_answer::done);
    EXPECT_EQ(release(rows, key_, *granted.version), change_answer::done);
  };
  secure({"for select using (true)"}, "_schema");
  secure({"to " + role_.name() + " using (false)"}, "");
  server_.query("drop policy p2 on " + name());
  expect_refusal(is_used, "SELECT on");
  secure({"for select using (true)"});
  expect_refusal(is_used, "INSERT on");
  secure({"for insert with check (true)"});
  expect_refusal(is_used, "UPDATE on");
  secure({"for update to " + role_.name() + " using (true)"});
  is_used();
  server_.query("drop policy p1 on " + name() + "_schema");
  expect_refusal(is_used, "_schema");
}

TEST_F(PostgresLostChanges, DoNotKeepAReaderFromReading) {
  secure({"for select using (true)"});
  server_.query("revoke insert, update on " + name() + " from " + role_.name());
  EXPECT_NO_THROW((void)open_store(role_.url()).list());
}

TEST_F(PostgresLostChanges, OfARowThatAPolicyHidesAreNoContention) {
  auto others = open_store();
  const lock_key hidden{"invoice", "hidden"};
  const lock_key unwritable{"invoice", "unwritable"};
  for (const auto& each : {key_, hidden, unwritable}) {
    release(others, each, *acquire(others, each).version);
  }
  secure({"for select using (source_id <> 'hidden')", "for insert with check (true)",
          "for update using (source_id <> 'unwritable')"});
  auto rows = open_store(role_.url());
  for (const auto& each : {hidden, unwritable}) {
    for (const auto mode : {acquire_mode::each, acquire_mode::all_or_none}) {
      expect_refusal([&] { (void)rows.acquire(std::array{request(each)}, {mode}); }, "POLICY");
    }
  }
  EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);

  const lock_key created{"invoice", "unwritable too"};
  server_.query("create policy restricting on " + name() +
                " as restrictive for update using (source_id <> 'unwritable too')");
  const auto granted = acquire(rows, created);
  ASSERT_EQ(granted.status, acquire_status::granted);
  expect_refusal([&] { (void)renew(rows, created, *granted.version); }, "POLICY");
  expect_refusal(
      [&] {
        (void)rows.force_release({.key = created, .version = *granted.version, .reason = "a test"});
      },
      "POLICY");
}

TEST_F(PostgresLostChanges, OfARowThatAPolicyRefusesAreNotBlamedOnAPrivilege) {
  secure({"using (true) with check (source_id <> 'refused')"});
  auto rows = open_store(role_.url());
  expect_refusal([&] { (void)acquire(rows, {"invoice", "refused"}); }, "POLICY");
}

TEST_F(PostgresLostChanges, OfATriggerAreNoContention) {
  auto rows = open_store();
  release(rows, key_, *acquire(rows, key_).version);
  drop_changes("insert or update", "new.owner is not null");
  expect_refusal([&] { (void)acquire(rows, key_); }, "trigger");
  expect_refusal([&] { (void)acquire(rows, other_key_); }, "trigger");
}

TEST_F(PostgresLostChanges, OfAllRowsOfASetAreNoContention) {
  auto rows = open_store();
  const std::array set{request(key_), request(other_key_)};
  const std::array missing{request({"invoice", "a"}), request({"invoice", "b"})};
  rows.read(std::array{key_, other_key_}, read_mode::ready_to_commit);
  drop_changes("insert or update", "new.owner is not null or new.source_id in ('a', 'b')");
  for (const auto how : {acquire_mode::all_or_none, acquire_mode::each}) {
    expect_refusal([&] { (void)rows.acquire(set, {how}); }, "trigger");
    expect_refusal([&] { (void)rows.acquire(missing, {how}); }, "trigger");
  }
}

// The row is as free as it seems.
TEST_F(PostgresLostChanges, AreNotTakenForARowThatAnotherTransactionHas) {
  auto rows = open_store();
  release(rows, key_, *acquire(rows, key_).version);
  drop_changes("update", "new.source_id = 'another'");
  secure({"using (true)"});
  auto of_role = open_store(role_.url());
  open_work rival;
  for (const auto* lock : {"for update", "for share"}) {
    rival.work.exec("select 1 from " + name() + row(key_) + lock);
    EXPECT_EQ(acquire(rows, key_).status, acquire_status::busy) << lock;
    EXPECT_EQ(acquire(of_role, key_).status, acquire_status::busy) << lock;
  }
  rival.work.exec("select pg_advisory_xact_lock(hashtextextended('gated', hashtextextended(" +
                  std::string{"'invoice', '"} + name() + "'::regclass::bigint)))");
  EXPECT_EQ(acquire(of_role, {"invoice", "gated"}).status, acquire_status::busy);
  rival.work.abort();
  EXPECT_EQ(acquire(of_role, key_).status, acquire_status::granted);
  EXPECT_EQ(acquire(rows, {"invoice", "gated"}).status, acquire_status::granted);
}

/// What the application's transaction does with rows whose changes are lost.
class PostgresLostChangesOfATransaction : public PostgresLostChanges {
 protected:
  PostgresLostChangesOfATransaction() {
    rows_.read(std::array{key_, other_key_}, read_mode::ready_to_commit);
  }

  void expect_no_row_lock(const lock_keys& keys, const std::string& url = postgres_url()) {
    open_work ours{url};
    expect_refusal([&] { (void)lock_rows(ours.work, keys, no_wait(), table()); }, "trigger");
    ours.work.abort();
    pqxx::connection connection{url};
    bool is_called = false;
    expect_refusal(
        [&] {
          (void)with_row_lock<pqxx::work>(
              connection, keys, wait_for(10s), [&](pqxx::work&) { is_called = true; }, table());
        },
        "trigger");
    EXPECT_FALSE(is_called);
  }
  [[nodiscard]] version version_of(const lock_key& key) {
    return {server_.value<std::int64_t>("select version from " + name() + row(key))};
  }
  /// For every kind of fence, and for a release within the transaction.
  void expect_no_fence(const fenced_leases& leases, const std::string& url = postgres_url()) {
    for (const auto kind : {fence_kind::write, fence_kind::share}) {
      open_work ours{url};
      const auto prove = [&] { fence(ours.work, leases, {.kind = kind}, table()); };
      expect_refusal(prove, "trigger");
      EXPECT_ANY_THROW(ours.work.exec("select 1")) << "the transaction has ended";
    }
    open_work ours{url};
    expect_refusal([&] { release_with(ours.work, leases, {}, table()); }, "trigger");
    EXPECT_ANY_THROW(ours.work.exec("select 1")) << "the transaction has ended";
  }

  postgres_store rows_ = open_store();
  lock_table locks_{rows_, {.ttl = 1h, .renew = false}};
};

TEST_F(PostgresLostChangesOfATransaction, AreNoRowLock) {
  drop_changes("update", "new.source_id = '43'");
  expect_no_row_lock(other_key_);
  expect_no_row_lock({key_, other_key_});
  open_work ours;
  EXPECT_TRUE(lock_rows(ours.work, key_, no_wait(), table()).acquired());
}

TEST_F(PostgresLostChangesOfATransaction, OfANewRowAreNoContention) {
  drop_changes("insert", "new.source_id = 'new'");
  const lock_key created{"invoice", "new"};
  expect_no_row_lock(created);
  expect_no_row_lock({key_, created});
  open_work ours;
  expect_refusal([&] { (void)read_version(ours.work, created, table()); }, "trigger");
  EXPECT_TRUE(read_version(ours.work, key_, table()).acquired());
}

TEST_F(PostgresLostChangesOfATransaction, OfARowThatAPolicyHidesAreNoContention) {
  secure({"for select using (true)", "for insert with check (true)",
          "for update using (source_id <> '43')"});
  expect_no_row_lock(other_key_, role_.url());
  open_work ours{role_.url()};
  expect_refusal([&] { (void)lock_rows(ours.work, other_key_, wait_for(10s), table()); }, "POLICY");
  const auto seen = version_of(other_key_);
  expect_refusal([&] { (void)try_commit(ours.work, other_key_, seen, table()); }, "POLICY");
  // What it did before is still there, and it goes on.
  EXPECT_EQ(try_commit(ours.work, other_key_, version{seen.number - 1}, table()),
            commit_result::stale);
  EXPECT_EQ(try_commit(ours.work, key_, version_of(key_), table()), commit_result::committed);
  ours.work.commit();

  const lease one = *locks_.try_acquire(other_key_);
  const lease another = *locks_.try_acquire(key_);
  expect_no_fence(one, role_.url());
  expect_no_fence({one, another}, role_.url());
  open_work fenced{role_.url()};
  EXPECT_NO_THROW(fence(fenced.work, another, {}, table()));
}

TEST_F(PostgresLostChangesOfATransaction, OfATriggerAreNoContention) {
  const lease held = *locks_.try_acquire(other_key_);
  drop_changes("update", "old.version = new.version or new.ended_as = 'committed'");
  open_work ours;
  expect_refusal([&] { fence(ours.work, held, {}, table()); }, "trigger");
  open_work another;
  const auto seen = version_of(key_);
  expect_refusal([&] { (void)try_commit(another.work, key_, seen, table()); }, "trigger");
}

TEST_F(PostgresLostChangesOfATransaction, AreNotTriedAgainAndAgainForAsLongAsACallerWaits) {
  const auto tries = schema() + ".tries";
  server_.query("create sequence " + tries);
  server_.query("grant usage on " + tries + " to " + role_.name());
  secure({"for select using (true)", "for insert with check (true)",
          "for update using (nextval('" + tries + "') < 0)"});
  open_work ours{role_.url()};
  expect_refusal([&] { (void)lock_rows(ours.work, key_, wait_for(10s), table()); }, "POLICY");
  EXPECT_LT(server_.value<int>("select last_value from " + tries), 50);
}

// The rows are as free as they seem.
TEST_F(PostgresLostChangesOfATransaction, AreNotTakenForARowThatAnotherTransactionHas) {
  const lease held = *locks_.try_acquire(other_key_);
  drop_changes("insert or update", "new.source_id = 'another'");
  secure({"using (true)"});
  const auto seen = version_of(key_);
  const lock_key gated{"invoice", "gated"};
  for (const auto& url : {postgres_url(), role_.url()}) {
    open_work ours{url};
    for (const auto* lock : {"for update", "for share", "for key share"}) {
      open_work rival;
      rival.work.exec("select 1 from " + name() + row(key_) + lock);
      const auto refused = lock_rows(ours.work, key_, no_wait(), table());
      ASSERT_FALSE(refused.acquired()) << lock;
      EXPECT_EQ(refused.refusal().reason, refusal_reason::busy) << lock;
    }
    open_work rival;
    rival.work.exec("select 1 from " + name() + row(key_) + "for update");
    EXPECT_EQ(try_commit(ours.work, key_, seen, table()), commit_result::stale);
    rival.work.exec("select 1 from " + name() + row(other_key_) + "for update");
    open_work fenced{url};
    EXPECT_EQ(error_of([&] { fence(fenced.work, held, {}, table()); }).kind, errc::lease_lost);
    rival.work.exec("select pg_advisory_xact_lock(hashtextextended('gated', hashtextextended(" +
                    std::string{"'invoice', '"} + name() + "'::regclass::bigint)))");
    EXPECT_FALSE(lock_rows(ours.work, gated, no_wait(), table()).acquired());
    EXPECT_FALSE(read_version(ours.work, gated, table()).acquired());
    rival.work.abort();
    EXPECT_TRUE(lock_rows(ours.work, {key_, gated}, no_wait(), table()).acquired());
  }
}

}  // namespace
}  // namespace rowlock::tests
