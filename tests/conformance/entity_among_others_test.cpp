// Locks of the application's own rows while other transactions want them too.
#include <future>
#include <latch>
#include <stop_token>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class EntityAmongOthers : public store_test {
 protected:
  EntityAmongOthers() {
    open_transaction inserting{*bench_};
    inserting->execute("insert into " + seats_.table + " (id) values (1), (2)");
    inserting.commit();
  }

  /// Another session's transaction that has locked row 1.
  class rival {
   public:
    rival(store_bench& bench, const entity_table& table) : transaction_{bench} {
      if (!transaction_->lock_entity(table, 1, no_wait()).acquired()) {
        throw std::runtime_error{"the rival could not lock the row"};
      }
    }
    app_transaction* operator->() { return transaction_.operator->(); }
    void commit() { transaction_.commit(); }
    void roll_back() { transaction_.roll_back(); }

   private:
    open_transaction transaction_;
  };

  /// The refusal of a wait in another thread, during which `meanwhile` runs; none if it locks.
  template <class Meanwhile>
  std::optional<refusal_reason> waited_for(const retry_policy& wait, const Meanwhile& meanwhile) {
    std::latch begun{1};
    auto waiting = std::async(std::launch::async, [&]() -> std::optional<refusal_reason> {
      open_transaction locking{*bench_};
      begun.count_down();
      const auto locked = locking->lock_entity(seats_, 1, wait);
      locking->write_note("goes on");
      locking.commit();
      if (locked.acquired()) return {};
      return locked.refusal().reason;
    });
    begun.wait();
    meanwhile();
    return waiting.get();
  }

  const entity_table seats_{.table = bench_->connect()->seats(), .id_column = "id"};
};

TEST_P(EntityAmongOthers, IsRefusedAsBusyAndUsableWhileAnotherTransactionHasTheRow) {
  rival other{*bench_, seats_};
  open_transaction locking{*bench_};
  locking->write_note("before");
  const auto locked = locking->lock_entity(seats_, 1, no_wait());
  ASSERT_FALSE(locked.acquired());
  EXPECT_EQ(locked.refusal().reason, refusal_reason::busy);
  EXPECT_EQ(locked.refusal().key, (lock_key{seats_.table, "1"}));
  EXPECT_TRUE(locking->lock_entity(seats_, 2, no_wait()).acquired());
  locking->write_note("after");
  other.roll_back();
  EXPECT_TRUE(locking->lock_entity(seats_, 1, no_wait()).acquired());
  locking.commit();
  EXPECT_EQ(bench_->connect()->notes(), (std::vector<std::string>{"before", "after"}));
}

TEST_P(EntityAmongOthers, IsLockedUntilTheEndOfTheTransaction) {
  for (const bool is_committed : {true, false}) {
    rival other{*bench_, seats_};
    open_transaction locking{*bench_};
    EXPECT_FALSE(locking->lock_entity(seats_, 1, no_wait()).acquired());
    is_committed ? other.commit() : other.roll_back();
    EXPECT_TRUE(locking->lock_entity(seats_, 1, no_wait()).acquired());
  }
}

TEST_P(EntityAmongOthers, WaitsAsLongAsThePolicySaysAndIsUsable) {
  const rival other{*bench_, seats_};
  // Where a server waits for whole seconds, the second wait is partly its own.
  for (const auto time : {150ms, 1100ms}) {
    EXPECT_EQ(waited_for(wait_for(time), [] {}), refusal_reason::timed_out);
  }
  EXPECT_EQ(bench_->connect()->notes().size(), 2U);
}

TEST_P(EntityAmongOthers, IsGrantedWhenTheTransactionInTheWayEndsEitherWay) {
  for (const auto& wait : {wait_for(patience), wait_forever()}) {
    for (const bool is_committed : {true, false}) {
      rival other{*bench_, seats_};
      EXPECT_EQ(waited_for(wait, [&] { is_committed ? other.commit() : other.roll_back(); }),
                std::nullopt);
    }
  }
}

TEST_P(EntityAmongOthers, IsGrantedAfterTheRowWasChanged) {
  rival other{*bench_, seats_};
  other->execute("update " + seats_.table + " set code = 'changed' where id = 1");
  EXPECT_EQ(waited_for(wait_for(patience), [&] { other.commit(); }), std::nullopt);
}

TEST_P(EntityAmongOthers, IsMissingAfterTheRowWasDeleted) {
  rival other{*bench_, seats_};
  other->execute("delete from " + seats_.table + " where id = 1");
  EXPECT_EQ(waited_for(wait_for(patience), [&] { other.commit(); }), refusal_reason::missing);
}

TEST_P(EntityAmongOthers, StopsWaitingWhenAStopIsRequested) {
  const rival other{*bench_, seats_};
  std::stop_source stop;
  EXPECT_EQ(waited_for(wait_until_stopped(stop.get_token()), [&] { stop.request_stop(); }),
            refusal_reason::stopped);
}

TEST_P(EntityAmongOthers, TakesALimitedNumberOfTries) {
  const rival other{*bench_, seats_};
  EXPECT_EQ(waited_for({.attempts = 2, .first_pause = 1ms}, [] {}), refusal_reason::timed_out);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EntityAmongOthers);
INSTANTIATE_TEST_SUITE_P(Stores, EntityAmongOthers,
                         testing::ValuesIn(stores_with_entities_side_by_side()), name_of);

}  // namespace
}  // namespace rowlock::tests
