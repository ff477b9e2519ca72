// Policies of row-level security and triggers that keep a row from being changed without an error.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"

namespace rowlock::tests {
namespace {

/// Stores of a role that may do all with the tables, and has what policies there are.
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

}  // namespace
}  // namespace rowlock::tests
