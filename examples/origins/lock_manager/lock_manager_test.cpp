// The behaviour of the lock manager's store, on each engine.
#include "origins/lock_manager/lock_manager.hpp"

#include <atomic>
#include <barrier>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "origins/support/events.hpp"
#include "origins/support/origin_test.hpp"
#include "support/patience.hpp"

namespace origins {
namespace {

using fault = rowlock::faulty_store::call;
using pauses = std::vector<std::chrono::milliseconds>;
using call = rowlock::store_call;

class LockManager : public origin_test {
 protected:
  lock_store_options options(std::shared_ptr<rowlock::time_source> time) {
    return {.time = std::move(time),
            .now = [] { return std::chrono::system_clock::time_point{1'700'000'000'123ms}; }};
  }
  lock_store make(const std::string& suffix = "jobs") { return {client_, suffix, options(time_)}; }
  rowlock::version write(lock_store& by, const std::string& farm = "farm-1") {
    return by.write("a", lock_level::xdc, farm, 1h);
  }
  void remove(lock_store& by, std::optional<rowlock::version> only = std::nullopt) {
    by.remove("a", lock_level::xdc, "farm-1", only);
  }
  std::string holder() { return is_held(row_) ? row(row_)->holder : "none"; }

  /// The fault that the thrown error hands on.
  template <class Thrown>
  static std::string cause_of(const event& failing) {
    try {
      failing();
    } catch (const Thrown& thrown) {
      try {
        std::rethrow_if_nested(thrown);
      } catch (const rowlock::error& cause) {
        return cause.what();
      }
      return "no cause";
    }
    return "no error";
  }
  void fail(fault which, int times) {
    for (int i = 0; i < times; ++i) faulty_.next_is_unavailable(which);
  }

  const std::shared_ptr<eventful_time> time_ = std::make_shared<eventful_time>(virtual_);
  const std::shared_ptr<hooked_client> rows_of_client_ = std::make_shared<hooked_client>(faulty_);
  const std::shared_ptr<shared_client> client_ = std::make_shared<shared_client>(rows_of_client_);
  lock_store locks_ = make();
  /// Another lock store with the same client.
  lock_store theirs_ = make();
  const rowlock::lock_key row_ = locks_.row_of("a", lock_level::xdc, "");
};

// What it is built from.

TEST_P(LockManager, LeavesItsClientOpenWhenItIsDestroyed) {
  { auto gone = make(); }
  EXPECT_NO_THROW(write(theirs_));
}

TEST_P(LockManager, NeedsALockTableThatExists) {
  const auto application = bench_->connect();
  const auto beside = application->seats();
  const auto change = *application->begin();
  change->execute("drop table " + beside.substr(0, beside.find('.') + 1) + "shared_lock");
  if (GetParam().name != "soci_mysql") change->commit();  // MariaDB has done it by itself
  lock_store locks{std::make_shared<shared_client>(bench_->open()), "jobs", options(time_)};
  locks.initialize();
  EXPECT_NE(cause_of<connection_error>([&] { write(locks); }).find("shared_lock"),
            std::string::npos);
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
}

TEST_P(LockManager, NamesItsSetsByLevelFarmAndSuffix) {
  EXPECT_EQ(locks_.set_name(lock_level::dc, "farm-1"), "DC#farm-1#jobs");
  EXPECT_EQ(locks_.set_name(lock_level::xdc, "farm-1"), "XDC#jobs");
}

// Levels.

TEST_P(LockManager, OfDifferentFarmsNeverMeetsInADataCentre) {
  locks_.write("a", lock_level::dc, "farm-1", 1h);
  EXPECT_NO_THROW(theirs_.write("a", lock_level::dc, "farm-2", 1h));
}

TEST_P(LockManager, OfOneFarmMeetsInADataCentre) {
  locks_.write("a", lock_level::dc, "farm-1", 1h);
  EXPECT_THROW(theirs_.write("a", lock_level::dc, "farm-1", 1h), lock_unavailable);
}

TEST_P(LockManager, OfDifferentFarmsMeetsAcrossDataCentres) {
  locks_.write("a", lock_level::xdc, "farm-1", 1h);
  EXPECT_THROW(theirs_.write("a", lock_level::xdc, "farm-2", 1h), lock_unavailable);
}

TEST_P(LockManager, OfDifferentLevelsOrSuffixesNeverMeets) {
  locks_.write("a", lock_level::dc, "farm-1", 1h);
  EXPECT_NO_THROW(locks_.write("a", lock_level::xdc, "farm-1", 1h));
  EXPECT_NO_THROW(make("mails").write("a", lock_level::dc, "farm-1", 1h));
}

// Write.

TEST_P(LockManager, WritesTheRecordIfThereIsNone) {
  write(locks_);
  ASSERT_TRUE(is_held(row_));
  EXPECT_EQ(row(row_)->holder, "farm-1");
  EXPECT_EQ(row(row_)->note, "farm-1##data=1 farm-1##uat=1700000000123");
}

TEST_P(LockManager, IsUnavailableIfThereIsOneAndDoesNotTryAgain) {
  write(locks_);
  EXPECT_THROW(write(theirs_, "farm-2"), lock_unavailable);
  EXPECT_THROW(write(locks_), lock_unavailable) << "its own";
  EXPECT_EQ(virtual_->pauses(), pauses{});
  EXPECT_EQ(holder(), "farm-1");
}

TEST_P(LockManager, IsWrittenByOneOfSeveralAtOnce) {
  constexpr int writers = 4;
  std::barrier start{writers};
  std::atomic<int> written = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < writers; ++i) {
      threads.emplace_back([&] {
        lock_store locks{client_, "jobs", {.time = std::make_shared<virtual_time>(clock_)}};
        start.arrive_and_wait();
        try {
          write(locks);
          ++written;
        } catch (const lock_store_error&) {  // held, or busy at each try
        }
      });
    }
  }
  EXPECT_EQ(written, 1);
}

TEST_P(LockManager, FreesItselfAfterItsTtl) {
  write(locks_);
  EXPECT_GT(*row(row_)->remaining, 30min);
  EXPECT_LE(*row(row_)->remaining, 1h);
  bench_->run_out(row_);
  EXPECT_NO_THROW(write(theirs_, "farm-2"));
}

TEST_P(LockManager, ReadsNothing) {
  write(locks_);
  remove(locks_);
  EXPECT_EQ(rows_of_client_->made(),
            (std::vector<call>{call::acquire, call::write_note, call::release}));
}

TEST_P(LockManager, TriesAWriteFiveTimesWithAFixedPause) {
  fail(fault::acquire, 5);
  EXPECT_NE(cause_of<connection_error>([&] { write(locks_); }).find("try again later"),
            std::string::npos);
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
  EXPECT_EQ(faulty_.pending(), 0U);
  EXPECT_EQ(holder(), "none");
}

TEST_P(LockManager, WritesAfterFourFaults) {
  fail(fault::acquire, 4);
  write(locks_);
  EXPECT_EQ(holder(), "farm-1");
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
}

TEST_P(LockManager, TriesAgainAfterEveryKindOfFault) {
  for (const auto kind : {rowlock::errc::unavailable, rowlock::errc::outcome_unknown,
                          rowlock::errc::rejected, rowlock::errc::misuse}) {
    const auto failing = [&] { throw rowlock::error{kind, "a fault"}; };
    rows_of_client_->before_next(call::acquire, failing);
    write(locks_);
    rows_of_client_->before_next(call::release, failing);
    remove(locks_);
    EXPECT_EQ(holder(), "none");
  }
  EXPECT_EQ(virtual_->pauses(), pauses(8, 80ms));
}

TEST_P(LockManager, TriesAgainWhenTheDataAreNotWritten) {
  fail(fault::operate, 1);
  const auto written = write(locks_);
  EXPECT_EQ(virtual_->pauses(), pauses{80ms});
  EXPECT_EQ(row(row_)->version, written) << "the same record";
  EXPECT_EQ(row(row_)->note, "farm-1##data=1 farm-1##uat=1700000000123");
}

TEST_P(LockManager, CountsFaultsOfTheRecordAndOfItsDataTogether) {
  fail(fault::acquire, 2);
  fail(fault::operate, 3);
  EXPECT_THROW(write(locks_), connection_error);
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
  EXPECT_EQ(faulty_.pending(), 0U);
}

TEST_P(LockManager, IsUnavailableIfItIsLostBeforeItsDataAreWritten) {
  rows_of_client_->before_next(call::write_note, [&] {
    bench_->run_out(row_);
    write(theirs_, "farm-2");
  });
  EXPECT_THROW(write(locks_), lock_unavailable);
  EXPECT_EQ(virtual_->pauses(), pauses{});
  remove(locks_);
  EXPECT_EQ(holder(), "farm-2");
  EXPECT_TRUE(row(row_)->note.starts_with("farm-2##data")) << row(row_)->note;
}

TEST_P(LockManager, IsUnavailableIfItIsLostBetweenTwoTries) {
  fail(fault::operate, 1);
  time_->in_pause(1, [&] {
    bench_->run_out(row_);
    write(theirs_, "farm-2");
  });
  EXPECT_THROW(write(locks_), lock_unavailable);
  remove(locks_);
  EXPECT_EQ(holder(), "farm-2");
}

TEST_P(LockManager, RemovesTheRecordOfAWriteThatFailed) {
  fail(fault::operate, 5);
  EXPECT_THROW(write(locks_), connection_error);
  EXPECT_EQ(holder(), "farm-1");
  remove(locks_);
  EXPECT_EQ(holder(), "none");
}

TEST_P(LockManager, FreesTheRecordOfAWriteInDoubtAfterItsTtl) {
  for (int i = 0; i < 5; ++i) faulty_.next_is_in_doubt(fault::acquire);
  EXPECT_THROW(write(locks_), connection_error);
  EXPECT_EQ(holder(), "farm-1");
  bench_->run_out(row_);
  EXPECT_NO_THROW(write(theirs_, "farm-2"));
}

TEST_P(LockManager, TriesAgainWhileATransactionHasTheRow) {
  const auto impatient = bench_->open(20ms);  // soon gives up a SQLite file with another writer
  const auto rows = std::make_shared<hooked_client>(*impatient);
  lock_store locks{std::make_shared<shared_client>(rows), "jobs", options(time_)};
  std::shared_ptr<void> stranger;
  const auto lock_for_two_pauses = [&] {
    stranger = bench_->lock_as_a_stranger(row_);
    time_->in_pause(2, [&] { stranger.reset(); });
  };
  write(locks);
  remove(locks);

  lock_for_two_pauses();
  write(locks);
  EXPECT_EQ(virtual_->pauses(), pauses(2, 80ms));

  lock_for_two_pauses();
  remove(locks);
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
  EXPECT_EQ(holder(), "none");

  rows->before_next(call::write_note, lock_for_two_pauses);
  write(locks);
  EXPECT_EQ(virtual_->pauses(), pauses(6, 80ms));
  EXPECT_EQ(holder(), "farm-1");
}

// Remove.

TEST_P(LockManager, RemovesTheRecord) {
  write(locks_);
  remove(locks_);
  EXPECT_EQ(holder(), "none");
  EXPECT_NO_THROW(write(theirs_, "farm-2"));
}

TEST_P(LockManager, RemovesWhatIsNotThereWithoutAnError) {
  EXPECT_NO_THROW(remove(locks_));
  write(locks_);
  remove(locks_);
  EXPECT_NO_THROW(remove(locks_));
}

TEST_P(LockManager, TriesARemoveFiveTimesWithAFixedPause) {
  write(locks_);
  fail(fault::release, 5);
  EXPECT_NE(cause_of<retries_exhausted>([&] { remove(locks_); }).find("try again later"),
            std::string::npos);
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
  EXPECT_EQ(faulty_.pending(), 0U);
  EXPECT_EQ(holder(), "farm-1");
  remove(locks_);
  EXPECT_EQ(holder(), "none");
}

TEST_P(LockManager, RemovesAfterFourFaults) {
  write(locks_);
  fail(fault::release, 4);
  remove(locks_);
  EXPECT_EQ(holder(), "none");
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
}

// Initialize and close.

TEST_P(LockManager, InitializesWithoutACall) {
  locks_.initialize();
  EXPECT_EQ(rows_of_client_->made(), std::vector<call>{});
}

TEST_P(LockManager, ClosesAClientThatOthersUseToo) {
  write(theirs_);
  locks_.close();
  EXPECT_THROW(write(locks_), connection_error);
  EXPECT_THROW(remove(locks_), connection_error) << "although it has written nothing";
  EXPECT_THROW(write(theirs_), connection_error);
  EXPECT_THROW(remove(theirs_), connection_error);
  EXPECT_NO_THROW(theirs_.close());
  EXPECT_EQ(holder(), "farm-1") << "no record is deleted";
}

TEST_P(LockManager, ClosesTheConnections) {
  auto rows = bench_->open();
  const std::weak_ptr<rowlock::store> open = rows;
  lock_store locks{std::make_shared<shared_client>(std::move(rows)), "jobs"};
  write(locks);
  EXPECT_FALSE(open.expired());
  locks.close();
  EXPECT_TRUE(open.expired());
}

TEST_P(LockManager, ClosesTheConnectionsWhenTheCallUnderWayHasEnded) {
  std::promise<void> begun;
  std::promise<void> closed;
  auto rows = std::make_shared<hooked_client>(*rows_);
  rows->before_next(call::acquire, [&] {
    begun.set_value();
    closed.get_future().wait_for(rowlock::tests::patience);
  });
  const std::weak_ptr<rowlock::store> open = rows;
  lock_store locks{std::make_shared<shared_client>(std::move(rows)), "jobs", options(time_)};
  auto writing = std::async(std::launch::async, [&] { write(locks); });
  ASSERT_EQ(begun.get_future().wait_for(rowlock::tests::patience), std::future_status::ready);
  locks.close();
  EXPECT_FALSE(open.expired());
  EXPECT_THROW(remove(locks), connection_error) << "a later call";
  closed.set_value();
  EXPECT_NO_THROW(writing.get());
  EXPECT_TRUE(open.expired());
  EXPECT_EQ(holder(), "farm-1");
}

TEST_P(LockManager, ClosesAClientThatOtherThreadsUse) {
  constexpr int users = 4;
  std::latch used{users};
  std::atomic<int> closed = 0;
  {
    std::vector<std::jthread> threads;
    for (int user = 0; user < users; ++user) {
      threads.emplace_back([&, id = std::to_string(user)] {
        lock_store locks{client_, "jobs", {.time = std::make_shared<virtual_time>(clock_)}};
        bool has_begun = false;
        try {
          while (true) {
            locks.write(id, lock_level::xdc, "farm-1", 1h);
            if (!std::exchange(has_begun, true)) used.count_down();
            locks.remove(id, lock_level::xdc, "farm-1");
          }
        } catch (const connection_error&) {
          ++closed;
        }
        if (!has_begun) used.count_down();
      });
    }
    used.wait();
    locks_.close();
  }
  EXPECT_EQ(closed, users);
}

TEST_P(LockManager, ClosesTheClientBetweenTwoTries) {
  fail(fault::acquire, 1);
  time_->in_pause(1, [&] { theirs_.close(); });
  EXPECT_THROW(write(locks_), connection_error);
  EXPECT_EQ(virtual_->pauses(), pauses{80ms}) << "no try more";
}

// The edges, which the original does not list.

TEST_P(LockManager, RefusesASuffixWithTheCharacterThatJoinsIt) {
  EXPECT_THROW(make("jobs#x"), std::invalid_argument);
  EXPECT_NE(locks_.set_name(lock_level::dc, "a#b"), locks_.set_name(lock_level::dc, "a"));
}

TEST_P(LockManager, RefusesAWrongCallWithoutATry) {
  EXPECT_THROW(locks_.write("a", lock_level::xdc, "farm-1", 0ms), rowlock::error);
  EXPECT_THROW(locks_.write(std::string(300, 'a'), lock_level::xdc, "farm-1", 1h), rowlock::error);
  EXPECT_EQ(virtual_->pauses(), pauses{});
  EXPECT_EQ(rows_of_client_->made(), std::vector<call>{});
}

// What the original could not promise.

TEST_P(LockManager, RemovesNoRecordOfASuccessor) {
  write(locks_);
  bench_->run_out(row_);
  write(theirs_, "farm-2");
  remove(locks_);
  EXPECT_EQ(holder(), "farm-2");
}

TEST_P(LockManager, RemovesNoRecordThatItHasNotWritten) {
  write(theirs_, "farm-2");
  remove(locks_);
  EXPECT_EQ(holder(), "farm-2");
}

TEST_P(LockManager, RemovesNoRecordThatItWritesBetweenTwoTries) {
  write(locks_);
  fail(fault::release, 1);
  time_->in_pause(1, [&] {  // as another thread does
    bench_->run_out(row_);
    write(locks_, "farm-3");
  });
  remove(locks_);
  EXPECT_EQ(holder(), "farm-3");
  remove(locks_);
  EXPECT_EQ(holder(), "none") << "that record is known, too";
}

TEST_P(LockManager, RemovesOnlyTheVersionThatItIsGiven) {
  const auto first = write(locks_);
  bench_->run_out(row_);
  const auto second = write(locks_);
  remove(locks_, first);
  EXPECT_EQ(holder(), "farm-1");
  remove(locks_, second);
  EXPECT_EQ(holder(), "none");
}

TEST_P(LockManager, RemovesTheNewestOfTwoThatItWritesAtOnce) {
  rows_of_client_->after_next(call::acquire, [&] {  // as another thread does
    bench_->run_out(row_);
    write(locks_, "farm-3");
  });
  EXPECT_THROW(write(locks_), lock_unavailable);
  EXPECT_EQ(holder(), "farm-3");
  remove(locks_);
  EXPECT_EQ(holder(), "none");
}

TEST_P(LockManager, RemovesNoRecordOfASuccessorWhenTheAnswerGotLost) {
  write(locks_);
  faulty_.next_is_in_doubt(fault::release);
  time_->in_pause(1, [&] { write(theirs_, "farm-2"); });
  remove(locks_);
  EXPECT_EQ(holder(), "farm-2");
}

TEST_P(LockManager, KnowsItsOwnRecordWhenTheAnswerGotLost) {
  faulty_.next_is_in_doubt(fault::acquire);
  write(locks_);
  EXPECT_EQ(virtual_->pauses(), pauses{80ms});
  remove(locks_);
  EXPECT_EQ(holder(), "none");
}

TEST_P(LockManager, IsSeenByEveryConnectionWhenItIsWritten) {
  const auto others = bench_->open();
  write(locks_);
  EXPECT_TRUE(others->read(std::array{row_}).front()->is_live());
  lock_store theirs{std::make_shared<shared_client>(others), "jobs", options(time_)};
  EXPECT_THROW(write(theirs, "farm-2"), lock_unavailable);
}

INSTANTIATE_TEST_SUITE_P(Engines, LockManager, testing::ValuesIn(engines()), name_of);

}  // namespace
}  // namespace origins
