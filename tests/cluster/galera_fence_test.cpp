// A holder whose node lags, so that it cannot know that it was taken over: what a fence prevents
// there, that a locking SELECT is none, and which checker sees it.
#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "cluster/galera_locks.hpp"
#include "faults/checkers.hpp"

namespace rowlock::tests {
namespace {

class GaleraFence : public galera_locks {
 protected:
  using commit = std::function<void(books&, const lease&, const books::task&)>;

  /// The holder works at node 1, whose applier is held, its successor at node 0.
  history be_taken_over_at_another_node(int key, const commit& commit_of_holder) {
    const auto of_holder = books_at(1);
    const lease held = *locks(1).try_acquire(lock_key_of(key));
    cluster().catch_up(0);
    const auto begun = begin_entry(of_holder->outside(), key, held.token());

    cluster().hold_appliers(1);
    let_run_out(0, held.key());
    const lease successor = *locks(0).try_acquire(lock_key_of(key));
    const auto of_successor = books_at(0);
    const auto next = begin_entry(of_successor->outside(), key, successor.token());
    of_successor->run_fenced(successor, [&](sql_line& line) { write_entry(line, next); }, {});

    auto committing = std::async(std::launch::async, [&] {
      commit_of_holder(*of_holder, held, [&](sql_line& line) { write_entry(line, begun); });
    });
    await_a_commit_behind_the_applier(1);
    cluster().release_appliers(1);
    try {
      committing.get();
    } catch (const std::exception& thrown) {
      refusal_ = thrown.what();
      is_lost_ = dynamic_cast<const lease_lost*>(&thrown) != nullptr;
    }
    return read_books(*books_at(0));
  }

  static void by_fence(books& used, const lease& held, const books::task& work) {
    used.run_fenced(held, work, {});
  }

  static void by_share_lock(books& used, const lease& held, const books::task& work) {
    used.run_unfenced([&](sql_line& line) {
      work(line);
      const auto seen =
          line.number("select version from shared_lock where lock_type = '" + held.key().type +
                      "' and source_id = '" + held.key().source_id + "' lock in share mode");
      ASSERT_EQ(seen, held.token().number) << "the node was not late enough";
    });
  }

  static constexpr int of_a_counter = 0;
  static constexpr int of_added_rows = 1;

  std::string refusal_;
  bool is_lost_ = false;
};

TEST_F(GaleraFence, RefusesAHolderThatWasTakenOverAtAnotherNode) {
  const auto seen = be_taken_over_at_another_node(of_added_rows, by_fence);
  EXPECT_TRUE(is_lost_) << refusal_;
  EXPECT_EQ(commits_after_takeover(seen), std::vector<std::string>{});
  EXPECT_EQ(seen.entries.size(), 1U);
}

TEST_F(GaleraFence, ByALockingSelectIsCaughtInRowsThatAreOnlyAdded) {
  const auto seen = be_taken_over_at_another_node(of_added_rows, by_share_lock);
  EXPECT_EQ(refusal_, "");
  EXPECT_EQ(commits_after_takeover(seen).size(), 1U);
}

// The cluster itself refuses the second of two writers of the counter, fence or no fence.
TEST_F(GaleraFence, ByALockingSelectIsNotSeenInACounterAlone) {
  const auto seen = be_taken_over_at_another_node(of_a_counter, by_share_lock);
  EXPECT_NE(refusal_, "");
  EXPECT_EQ(lost_updates(seen), std::vector<std::string>{});
  EXPECT_EQ(seen.entries.size(), 1U);
}

}  // namespace
}  // namespace rowlock::tests
