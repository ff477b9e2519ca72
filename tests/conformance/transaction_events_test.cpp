// What observers of a process are notified of transactions.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/observer.hpp"

namespace rowlock::tests {
namespace {

/// Each event as `work result key`, with what a test may want to see beside it.
class events_in_words final : public observer {
 public:
  void transaction(const transaction_event& event) override {
    std::ostringstream words;
    words << event.work << ' ' << event.result << ' ' << event.key;
    if (event.keys > 1) words << " and others";
    if (event.refusal) words << ": " << event.refusal->reason;
    const std::scoped_lock lock{mutex_};
    events_.push_back(words.str());
  }

  [[nodiscard]] std::vector<std::string> events() const {
    const std::scoped_lock lock{mutex_};
    return events_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> events_;  // guarded by mutex_
};

class TransactionEvents : public store_test {
 protected:
  using words = std::vector<std::string>;

  /// The events during `work`; an observation delivers them before it ends.
  template <class Work>
  words events_of(const Work& work) {
    const auto heard = std::make_shared<events_in_words>();
    {
      const transaction_observation observing{heard};
      work();
    }
    return heard->events();
  }

  const std::unique_ptr<app_connection> connection_ = bench_->connect();
};

TEST_P(TransactionEvents, AreThoseOfRowLocks) {
  const auto events = events_of([&] {
    open_transaction locking{*bench_};
    EXPECT_TRUE(locking->lock_rows({key_, other_key_}, no_wait()).acquired());
  });
  EXPECT_EQ(events, words{"row lock granted invoice/42 and others"});
}

TEST_P(TransactionEvents, AreThoseOfARefusedRowLock) {
  granted(other_key_, theirs_);
  const auto events = events_of([&] {
    open_transaction locking{*bench_};
    EXPECT_FALSE(locking->lock_rows(other_key_, no_wait()).acquired());
    locking.roll_back();
    EXPECT_FALSE(
        connection_->with_row_lock(other_key_, no_wait(), [](app_transaction&) { return 0; })
            .acquired());
  });
  EXPECT_EQ(events, (words{"row lock refused invoice/43: is held",
                           "row lock refused invoice/43: is held"}));
}

TEST_P(TransactionEvents, ShowHowARowLockEnded) {
  const auto events = events_of([&] {
    (void)connection_->with_row_lock(key_, no_wait(), [](app_transaction&) { return 0; });
    EXPECT_THROW(
        (void)connection_->with_row_lock(
            key_, no_wait(), [](app_transaction&) -> int { throw std::domain_error{"failed"}; }),
        std::domain_error);
  });
  EXPECT_EQ(events, (words{"row lock granted invoice/42", "row lock committed invoice/42",
                           "row lock granted invoice/42", "row lock rolled back invoice/42"}));
}

TEST_P(TransactionEvents, AreThoseOfOptimisticCommitsAndConflicts) {
  const auto events = events_of([&] {
    (void)connection_->with_optimistic_commit(key_, [](app_transaction&) { return 0; });
    const auto stale = connection_->with_optimistic_commit(key_, [&](app_transaction& work) {
      return work.try_commit(key_, *work.read_version(key_)) == commit_result::committed ? 0 : 1;
    });
    EXPECT_FALSE(stale.acquired());
  });
  EXPECT_EQ(
      events,
      (words{"optimistic commit granted invoice/42", "optimistic commit committed invoice/42",
             "optimistic commit granted invoice/42", "optimistic commit conflict invoice/42"}));
}

TEST_P(TransactionEvents, AreThoseOfARefusedOptimisticCommit) {
  granted(key_, theirs_);
  const auto events = events_of(
      [&] { (void)connection_->with_optimistic_commit(key_, [](app_transaction&) { return 0; }); });
  EXPECT_EQ(events, words{"optimistic commit refused invoice/42: is held"});
}

TEST_P(TransactionEvents, AreThoseOfFences) {
  lock_table locks{*rows_};
  const auto held = *locks.try_acquire(key_);
  const auto events = events_of([&] {
    (void)connection_->run_fenced(held, [](app_transaction&) { return 0; }, {});
    bench_->run_out(key_);
    granted(key_, theirs_);
    EXPECT_THROW((void)connection_->run_fenced(held, [](app_transaction&) { return 0; }, {}),
                 lease_lost);
  });
  EXPECT_EQ(events, (words{"fence granted invoice/42", "fence committed invoice/42",
                           "fence refused invoice/42", "fence rolled back invoice/42"}));
}

TEST_P(TransactionEvents, AreThoseOfAFenceThatItsLeaseDoesNotLastFor) {
  const auto time = std::make_shared<manual_time>();
  lock_table locks{*rows_, {.renew = false, .time = time}};
  const auto held = *locks.try_acquire(key_);
  const auto events = events_of([&] {
    const auto run_out = [&](app_transaction&) {
      time->advance(1h);
      return 0;
    };
    EXPECT_THROW((void)connection_->run_fenced(held, run_out, {}), lease_lost);
    EXPECT_THROW((void)connection_->run_fenced(held, run_out, {}), lease_lost);
  });
  EXPECT_EQ(events, (words{"fence refused invoice/42", "fence rolled back invoice/42",
                           "fence refused invoice/42"}));
}

TEST_P(TransactionEvents, ReachEachObserverAndNoneAfterItsEnd) {
  const auto lock = [&] {
    (void)connection_->with_row_lock(key_, no_wait(), [](app_transaction&) { return 0; });
  };
  const auto outer = std::make_shared<events_in_words>();
  words inner;
  {
    const transaction_observation observing{outer};
    inner = events_of(lock);
    lock();
  }
  lock();
  EXPECT_EQ(inner.size(), 2U);
  EXPECT_EQ(outer->events().size(), 4U);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransactionEvents);
INSTANTIATE_TEST_SUITE_P(Stores, TransactionEvents, testing::ValuesIn(stores_with_transactions()),
                         name_of);

class EntityEvents : public TransactionEvents {};

TEST_P(EntityEvents, AreThoseOfLocksAndVersionsOfTheApplicationsRows) {
  const auto seats = connection_->seats();
  const versioned_table versions{
      .table = seats, .id_column = {"hall", "number"}, .version_column = "version"};
  const auto events = events_of([&] {
    open_transaction locking{*bench_};
    locking->execute("insert into " + seats + " (id, hall, number) values (1, 'A', 7)");
    EXPECT_TRUE(locking->lock_entity({.table = seats, .id_column = "id"}, 1, no_wait()).acquired());
    EXPECT_FALSE(
        locking->lock_entity({.table = seats, .id_column = "id"}, 2, no_wait()).acquired());
    EXPECT_EQ(locking->try_commit(versions, {"A", 7}, 1), commit_result::committed);
    EXPECT_EQ(locking->try_commit(versions, {"A", 7}, 1), commit_result::stale);
  });
  EXPECT_EQ(events, (words{"entity lock granted " + seats + "/1",
                           "entity lock refused " + seats + "/2: does not exist",
                           "optimistic commit granted " + seats + "/A/7",
                           "optimistic commit conflict " + seats + "/A/7"}));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EntityEvents);
INSTANTIATE_TEST_SUITE_P(Stores, EntityEvents, testing::ValuesIn(stores_with_entities()), name_of);

}  // namespace
}  // namespace rowlock::tests
