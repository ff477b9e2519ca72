// What a lock table promises on a Galera cluster, and what it refuses to promise.
#include "cluster/galera_locks.hpp"

#include <gtest/gtest.h>
#include <soci/soci.h>

#include <algorithm>
#include <future>
#include <string>

#include "rowlock/soci.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class GaleraLocks : public galera_locks {
 protected:
  static std::string message_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const error& thrown) {
      return thrown.what();
    }
    return {};
  }

  const lock_key key_{.type = "cluster", .source_id = "1"};
};

TEST_F(GaleraLocks, WarnThatRowLocksAreLocalToANode) {
  const auto weak = rows(0).weak_settings();
  EXPECT_TRUE(std::any_of(weak.begin(), weak.end(), [](const std::string& each) {
    return each.starts_with("this server is a node of a Galera cluster");
  }));
}

TEST_F(GaleraLocks, AreHeldAtEveryNode) {
  const auto held = locks(0).try_acquire(key_);
  ASSERT_TRUE(held.acquired());
  for (std::size_t node = 1; node < galera_cluster::size; ++node) {
    books_at(node)->catch_up();
    const auto refused = locks(node).try_acquire(key_);
    ASSERT_FALSE(refused.acquired());
    EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  }
}

TEST_F(GaleraLocks, AreGrantedWithAGreaterVersionAtTheNextNode) {
  auto first = locks(0).try_acquire(key_);
  const auto token = first->token();
  first->release();
  books_at(1)->catch_up();
  const auto next = locks(1).try_acquire(key_);
  ASSERT_TRUE(next.acquired());
  EXPECT_GT(next->token(), token);
}

// Another node's clock may not have reached that time yet. That takes a second; a machine that
// stands still for so long gets another try.
TEST_F(GaleraLocks, AreNotTakenOverAsSoonAsTheyRanOutByTheClockOfOneNode) {
  const auto held = locks(0).try_acquire(key_);
  bool is_refused = false;
  for (int i = 0; i < 10 && !is_refused; ++i) {
    cluster().connect(0).execute("update shared_lock set expires_at = utc_timestamp(6)");
    is_refused = !locks(0).try_acquire(key_).acquired();
  }
  EXPECT_TRUE(is_refused);

  soci_store on_one_clock{target(0), {.clock_skew = 0ms}};
  lock_table there{on_one_clock};
  EXPECT_TRUE(there.try_acquire(key_).acquired());
}

class GaleraLocksAtANodeThatLags : public GaleraLocks {
 protected:
  /// Node 1 has not applied the grant at node 0 yet.
  void take_at_both_nodes() {
    cluster().hold_appliers(1);
    const auto first = locks(0).try_acquire(key_);
    ASSERT_TRUE(first.acquired());
    auto second = std::async(std::launch::async, [&] { return locks(1).try_acquire(key_); });
    await_a_commit_behind_the_applier(1);
    cluster().release_appliers(1);
    EXPECT_FALSE(second.get().acquired());
    EXPECT_EQ(rows(0).read(std::array{key_}).front()->version, first->token());
  }
};

TEST_F(GaleraLocksAtANodeThatLags, AreNotGrantedTwice) {
  locks(0).try_acquire(key_)->release();
  books_at(1)->catch_up();
  take_at_both_nodes();
}

TEST_F(GaleraLocksAtANodeThatLags, AreNotGrantedTwiceWhenTheirRowIsNew) { take_at_both_nodes(); }

TEST_F(GaleraLocks, AsRowLocksAreRefusedAndItIsSaidWhy) {
  soci::session session{target(0)};
  soci_transaction transaction{session};
  const auto caught =
      message_of([&] { EXPECT_FALSE(lock_rows(transaction, key_, no_wait()).acquired()); });
  EXPECT_NE(caught.find("Galera"), std::string::npos) << caught;
  EXPECT_NE(caught.find("one_writer_node"), std::string::npos) << caught;
}

TEST_F(GaleraLocks, OfTheApplicationsRowsAreRefusedUnlessOneNodeWrites) {
  ASSERT_TRUE(locks(0).read(key_).acquired());
  const entity_table rows{.table = "shared_lock", .id_column = {"lock_type", "source_id"}};
  soci::session session{target(0)};
  soci_transaction transaction{session};
  const auto lock = [&](const soci_table& table) {
    return lock_entity(session, rows, {key_.type, key_.source_id}, no_wait(), table).acquired();
  };
  const auto caught = message_of([&] { EXPECT_FALSE(lock({})); });
  EXPECT_NE(caught.find("Galera"), std::string::npos) << caught;
  EXPECT_TRUE(lock({table_name{}, true}));
}

TEST_F(GaleraLocks, AsRowLocksExcludeEachOtherWhereOneNodeWrites) {
  const soci_table table{table_name{}, true};
  soci::session session{target(0)};
  soci_transaction transaction{session};
  EXPECT_TRUE(lock_rows(transaction, key_, no_wait(), table).acquired());

  soci::session another{target(0)};
  soci_transaction later{another};
  EXPECT_FALSE(lock_rows(later, key_, no_wait(), table).acquired());
}

TEST_F(GaleraLocks, AreNotFencedByAShareLock) {
  const lease held = *locks(0).try_acquire(key_);
  soci::session session{target(0)};
  soci_transaction transaction{session};
  const auto caught =
      message_of([&] { fence(transaction.session(), held, {.kind = fence_kind::share}); });
  EXPECT_NE(caught.find("Galera"), std::string::npos) << caught;
}

}  // namespace
}  // namespace rowlock::tests
