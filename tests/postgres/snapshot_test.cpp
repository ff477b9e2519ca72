// Rows that another transaction changes between a statement's snapshot and its lock of the row.
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/semaphore.hpp"

namespace rowlock::tests {
namespace {

/// A policy of row-level security stops the statements of a role where they see the row of
/// `other_key_` for the first time, until the test opens a gate. In a session with the setting
/// test.stops, only statements with that text are stopped.
class PostgresSnapshot : public postgres_table {
 protected:
  PostgresSnapshot() {
    rows_.read(keys_, read_mode::ready_to_commit);
    server_.query("create function " + schema() +
                  ".pass(id text) returns boolean language plpgsql as $$ begin if id = '" +
                  other_key_.source_id +
                  "' and current_setting('test.passed', true) is distinct "
                  "from '1' and strpos(current_query(), current_setting('test.stops', true)) "
                  "is distinct from 0 then perform set_config('test.passed', '1', false), "
                  "pg_advisory_lock_shared(" +
                  gate() + "), pg_advisory_unlock_shared(" + gate() +
                  "); end if; return true; end $$");
    server_.query("alter table " + name() + " enable row level security");
    server_.query("create policy gate on " + name() + " to " + role_.name() + " using (" +
                  schema() + ".pass(source_id))");
    server_.query("grant usage on schema " + schema() + " to " + role_.name());
    server_.query("grant select, insert, update on all tables in schema " + schema() + " to " +
                  role_.name());
  }

  /// A number of this test alone.
  [[nodiscard]] std::string gate() const { return "'" + name() + "'::regclass::oid::bigint"; }

  /// Calls `work` in another thread, and `meanwhile` once its statement has seen the row.
  template <class Work, class Meanwhile>
  auto during(const Work& work, const Meanwhile& meanwhile) {
    server_.query("select pg_advisory_lock(" + gate() + ")");
    auto done = std::async(std::launch::async, work);
    server_.await(
        "select exists (select from pg_locks where locktype = 'advisory' and not granted and "
        "(classid::bigint << 32) + objid::bigint = " +
        gate() + ")");
    meanwhile();
    server_.query("select pg_advisory_unlock(" + gate() + ")");
    return done.get();
  }
  /// As a note or a failed transaction does: the row is as free, or as much held, as before.
  void change_other_row() {
    server_.query("update " + name() + " set failure_count = failure_count + 1" + row(other_key_));
  }
  std::string owners() {
    return server_.value<std::string>("select count(owner)::text from " + name());
  }

  const test_role role_{server_};
  postgres_store rows_ = open_store();
  postgres_store slow_ = open_store(role_.url());
  const std::vector<lock_key> keys_{key_, other_key_};
};

TEST_F(PostgresSnapshot, OfASetWhoseRowWasChangedSinceGrantsAllOrNone) {
  lock_table locks{slow_, {.ttl = 1h}};
  std::size_t had = 0;
  const auto ran = during(
      [&] {
        return locks.with_lock_all(keys_, [&](const lease_set& held) { had = held.size(); })
            .acquired();
      },
      [this] { change_other_row(); });
  EXPECT_EQ(had, ran ? 2U : 0U);
  EXPECT_EQ(owners(), "0");
}

TEST_F(PostgresSnapshot, OfAVersionKeepsNoRowLockedThatIsTakenOverMeanwhile) {
  acquire(rows_, other_key_);
  server_.query("update " + name() + " set expires_at = clock_timestamp() - interval '1s'" +
                row(other_key_));
  open_work ours{role_.url()};
  ours.work.exec("set test.stops = 'missing AS'");
  version taken_over{};
  const auto seen = during([&] { return read_version(ours.work, other_key_, table()); },
                           [&] { taken_over = *acquire(rows_, other_key_).version; });
  EXPECT_FALSE(seen.acquired());
  EXPECT_EQ(renew(rows_, other_key_, taken_over), change_answer::done);
}

TEST_F(PostgresSnapshot, OfAnyOfASetCountsOnlyWhatItGrants) {
  const std::vector<acquire_request> requests{request(other_key_), request(key_)};
  const auto answers = during(
      [&] {
        return slow_.acquire(requests, {acquire_mode::any, 1});
      },
      [this] { change_other_row(); });
  EXPECT_EQ(answers[0].status, acquire_status::withheld);
  EXPECT_EQ(answers[1].status, acquire_status::granted) << "which was free all the time";
  EXPECT_EQ(owners(), "1");
}

/// Fences of two leases, one of which is renewed meanwhile.
class PostgresSnapshotFence : public PostgresSnapshot {
 protected:
  bool is_committed(const fenced_run_options& options) {
    return during(
        [&] {
          pqxx::connection connection{role_.url()};
          run_fenced<pqxx::work>(
              connection, held_, [](pqxx::work& /*work*/) {}, options, table());
          return true;
        },
        [this] { change_other_row(); });
  }
  int fences() { return server_.value<int>("select sum(fence_count) from " + name()); }

  lock_table locks_{rows_, {.ttl = 1h}};
  lease_set held_ = *locks_.try_acquire_all(keys_);
};

TEST_F(PostgresSnapshotFence, OfLeasesOfWhichOneIsRenewedMeanwhileCommits) {
  EXPECT_TRUE(is_committed({}));
  EXPECT_EQ(fences(), 2);
  EXPECT_TRUE(held_.is_valid());
}

TEST_F(PostgresSnapshotFence, ThatSharesCommits) {
  EXPECT_TRUE(is_committed({.fence = {.kind = fence_kind::share}}));
}

TEST_F(PostgresSnapshotFence, ThatReleasesLeasesOfWhichOneIsRenewedMeanwhileCommits) {
  EXPECT_TRUE(is_committed({.release = true}));
  EXPECT_EQ(owners(), "0");
}

// The rows type#1 and so on are not there yet when the purge looks for them. Whoever takes a permit
// has raised the version of type#0 before.
TEST_F(PostgresSnapshot, OfAPurgeKeepsTheNumberOfPermitsOfWhichOneIsTakenMeanwhile) {
  const lock_key printer{"printer", other_key_.source_id};
  const lock_key record{"printer#0", printer.source_id};
  lock_table locks{rows_, {.ttl = 1h}};
  ASSERT_TRUE(semaphore::set_permits(locks, printer, 3).acquired());
  server_.query("update " + name() + " set version = 1");
  server_.query("grant delete on " + name() + " to " + role_.name());
  std::optional<outcome<lease>> permit;
  during([&] { return slow_.purge({.older_than = 1h}).purged; },
         [&] {
           permit.emplace(semaphore{locks, printer, 3}.try_acquire());
         });
  EXPECT_TRUE(permit->acquired());
  ASSERT_TRUE(locks.look(record));
  EXPECT_EQ(locks.look(record)->note, "3 permits, set");
}

/// A trigger that keeps one row from being changed, and raises no error.
class PostgresSilentTrigger : public postgres_table {
 protected:
  void keep_other_row() {
    server_.query("create function " + schema() +
                  ".keep() returns trigger language plpgsql as $$ begin return null; end $$");
    server_.query("create trigger keep before update on " + name() +
                  " for each row when (new.source_id = '" + other_key_.source_id +
                  "') execute function " + schema() + ".keep()");
  }
  const std::vector<lock_key> keys_{key_, other_key_};
  postgres_store rows_ = open_store();
  lock_table locks_{rows_, {.ttl = 1h}};
};

TEST_F(PostgresSilentTrigger, OfOneRowOfASetLeavesNoneGranted) {
  rows_.read(keys_, read_mode::ready_to_commit);
  keep_other_row();
  const auto caught = error_of([&] { (void)locks_.try_acquire_all(keys_); });
  EXPECT_EQ(caught.kind, errc::rejected);
  EXPECT_NE(caught.message().find("a trigger on table"), std::string::npos) << caught.message();
  EXPECT_EQ(server_.value<int>("select count(owner) from " + name()), 0);
}

TEST_F(PostgresSilentTrigger, OfOneRowOfAFenceIsNamed) {
  const auto held = *locks_.try_acquire_all(keys_);
  keep_other_row();
  for (const bool releases : {false, true}) {
    open_work open;
    const auto caught = error_of([&] {
      if (releases) return release_with(open.work, held, {}, table());
      fence(open.work, held, {}, table());
    });
    EXPECT_EQ(caught.kind, errc::rejected);
    EXPECT_NE(caught.message().find("a trigger on table"), std::string::npos) << caught.message();
  }
}

}  // namespace
}  // namespace rowlock::tests
