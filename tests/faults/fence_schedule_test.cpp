// An ex-holder at its commit: what a fence prevents, and that its weakened forms are found out.
#include <functional>
#include <future>
#include <ostream>
#include <string>

#include "faults/counter_schedule.hpp"

namespace rowlock::tests {
namespace {

/// How a transaction proves its lease: false, or an exception, when it does not.
struct proof {
  std::string name;
  std::function<bool(pqxx::work&, const lease&, const table_name&)> prove;

  friend std::ostream& operator<<(std::ostream& out, const proof& shown) {
    return out << shown.name;
  }
};

bool finds_row(pqxx::work& work, const lease& held, const table_name& table,
               const std::string& lock) {
  const std::string sql =
      table.in("select 1 from shared_lock where lock_type = ") + work.quote(held.key().type) +
      " and source_id = " + work.quote(held.key().source_id) +
      " and version = " + std::to_string(held.token().number) + " and owner is not null " + lock;
  return work.exec(sql).size() == 1;
}

proof fence_of(std::string name, fence_kind kind) {
  return {std::move(name), [kind](pqxx::work& work, const lease& held, const table_name& table) {
            fence(work, held, {.kind = kind}, table);
            return true;
          }};
}

const proof by_writing = fence_of("ByWriting", fence_kind::write);
const proof by_sharing = fence_of("BySharing", fence_kind::share);
const proof by_releasing{"ByReleasing",
                         [](pqxx::work& work, const lease& held, const table_name& table) {
                           release_with(work, held, {}, table);
                           return true;
                         }};

const proof off{"Off", [](pqxx::work&, const lease&, const table_name&) { return true; }};
const proof by_select{"ByPlainSelect",
                      [](pqxx::work& work, const lease& held, const table_name& table) {
                        return finds_row(work, held, table, "");
                      }};
const proof by_key_share{"ByKeyShare",
                         [](pqxx::work& work, const lease& held, const table_name& table) {
                           return finds_row(work, held, table, "for key share");
                         }};

std::string name_of_proof(const testing::TestParamInfo<proof>& tested) { return tested.param.name; }

class fence_schedule : public counter_schedule, public testing::WithParamInterface<proof> {
 protected:
  /// A holder is paused past its lease while another does the work; then it proves and commits.
  void take_over_before_the_proof() {
    const lease held = acquire_lease();
    const int seen = read_counter();
    let_lease_run_out();
    ASSERT_TRUE(let_successor_count());
    open_work open;
    try {
      if (GetParam().prove(open.work, held, table())) commit_increment(open.work, seen);
    } catch (const lease_lost&) {
      EXPECT_ANY_THROW(open.work.commit());  // even if a caller swallowed it
    }
  }

  /// A holder whose lease has run out proves that no other took over yet, and is paused before it
  /// commits.
  void take_over_after_the_proof() {
    const lease held = acquire_lease();
    const int seen = read_counter();
    let_lease_run_out();
    open_work open;
    ASSERT_TRUE(GetParam().prove(open.work, held, table()));
    let_successor_count();
    commit_increment(open.work, seen);
  }
};

class Fence : public fence_schedule {};

TEST_P(Fence, LetsNoExHolderCommitThatWasTakenOverBeforeItsProof) {
  take_over_before_the_proof();
  EXPECT_FALSE(an_update_was_lost());
  EXPECT_EQ(acknowledged_, 1);
}

TEST_P(Fence, KeepsSuccessorsOutFromTheProofToTheCommit) {
  take_over_after_the_proof();
  EXPECT_FALSE(an_update_was_lost());
  EXPECT_TRUE(let_successor_count());
  EXPECT_FALSE(an_update_was_lost());
}

INSTANTIATE_TEST_SUITE_P(Schedule, Fence, testing::Values(by_writing, by_sharing, by_releasing),
                         name_of_proof);

/// Negative controls: each of these must lose an update, or the schedules prove nothing.
class WeakenedFence : public fence_schedule {};

TEST_P(WeakenedFence, IsCaughtWhenTakenOverAfterTheProof) {
  take_over_after_the_proof();
  EXPECT_TRUE(an_update_was_lost());
}

INSTANTIATE_TEST_SUITE_P(Schedule, WeakenedFence, testing::Values(off, by_select, by_key_share),
                         name_of_proof);

class NoFence : public fence_schedule {};

TEST_P(NoFence, IsCaughtWhenTakenOverBeforeTheCommit) {
  take_over_before_the_proof();
  EXPECT_TRUE(an_update_was_lost());
}

INSTANTIATE_TEST_SUITE_P(Schedule, NoFence, testing::Values(off), name_of_proof);

/// A row lock at REPEATABLE READ, as the first statement of its transaction, waits behind the fence
/// of a lease that has run out.
class FenceBeforeARowLock : public counter_schedule {
 protected:
  using repeatable_read = pqxx::transaction<pqxx::isolation_level::repeatable_read>;

  struct next_holder {
    outcome<row_lock> locked;
    /// Of the work that was committed before it got the lock.
    bool saw_the_work;
  };

  next_holder lock_behind(fence_kind kind) {
    const lease held = acquire_lease();
    let_lease_run_out();
    open_work open;
    fence(open.work, held, {.kind = kind}, table());

    pqxx::connection connection{postgres_url()};
    auto next = std::async(std::launch::async, [&] {
      repeatable_read work{connection};
      auto locked = lock_rows(work, key_, wait_for(patience), table());
      const bool saw_it =
          locked.acquired() && work.exec("select n from " + counter())[0][0].as<int>() == 1;
      return next_holder{std::move(locked), saw_it};
    });
    server_.await(
        "select count(*) = 1 from pg_stat_activity where wait_event_type = 'Lock' and pid = " +
        std::to_string(connection.backendpid()));
    commit_increment(open.work, 0);
    return next.get();
  }
};

TEST_F(FenceBeforeARowLock, ByWritingTurnsAwayATransactionThatCannotSeeTheFencedWork) {
  const auto next = lock_behind(fence_kind::write);
  ASSERT_FALSE(next.locked.acquired());
  EXPECT_EQ(next.locked.refusal().reason, refusal_reason::stale);
}

// Why a fence by FOR SHARE is only for keys that no transaction locks at REPEATABLE READ.
TEST_F(FenceBeforeARowLock, BySharingIsCaughtAtRepeatableRead) {
  const auto next = lock_behind(fence_kind::share);
  ASSERT_TRUE(next.locked.acquired());
  EXPECT_FALSE(next.saw_the_work);
}

}  // namespace
}  // namespace rowlock::tests
