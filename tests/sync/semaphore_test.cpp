// Permits and readers: rows that are numbered.
#include "rowlock/semaphore.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "rowlock/error.hpp"
#include "rowlock/read_write_lock.hpp"
#include "support/hooked_store.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class NumberedRows : public testing::Test {
 protected:
  /// The fault that the caller gets, or nothing.
  template <class Call>
  static std::optional<errc> fault_of(const Call& call) {
    try {
      call();
      return std::nullopt;
    } catch (const error& thrown) {
      return static_cast<errc>(thrown.kind());
    }
  }

  void await_live(const lock_key& key) {
    await_that([&] {
      const auto row = locks_.look(key);
      return row && row->is_live();
    });
  }

  /// The answer of `call`, for which the clock moves.
  template <class Call>
  auto answer_of(const Call& call) {
    auto answer = std::async(std::launch::async, call);
    await_answer(answer, [this] { time_->advance(5ms); });
    return answer.get();
  }

  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table locks_{rows_, {.ttl = 1h, .time = time_}};
  lock_table others_{rows_, {.ttl = 1h, .time = time_}};
  const lock_key name_{"printer", "2nd floor"};
  const lock_key record_{"printer#0", "2nd floor"};
};

class Semaphore : public NumberedRows {};

TEST_F(Semaphore, HasSoManyPermits) {
  semaphore ours{locks_, name_, 3};
  semaphore theirs{others_, name_, 3};
  std::vector<lease> held;
  for (auto* each : {&ours, &theirs, &ours}) held.push_back(*each->try_acquire());
  EXPECT_FALSE(ours.try_acquire().acquired());
  EXPECT_FALSE(theirs.try_acquire().acquired());
  held.pop_back();
  EXPECT_TRUE(theirs.try_acquire().acquired());
}

TEST_F(Semaphore, IsRefusedAsHeldSoThatItsPausesAreThoseOfThePolicy) {
  semaphore used{locks_, name_, 1};
  const auto held = used.try_acquire();
  EXPECT_EQ(used.try_acquire().refusal().reason, refusal_reason::held);
}

TEST_F(Semaphore, WritesItsNumberForAllToSee) {
  EXPECT_TRUE((semaphore{locks_, name_, 3}.try_acquire().acquired()));
  EXPECT_EQ(locks_.look(record_)->note, "3 permits");
}

TEST_F(Semaphore, OfAnotherNumberIsMisuse) {
  EXPECT_TRUE((semaphore{locks_, name_, 3}.try_acquire().acquired()));
  semaphore other{others_, name_, 4};
  EXPECT_EQ(fault_of([&] { std::ignore = other.try_acquire(); }), errc::misuse);
  EXPECT_EQ(fault_of([&] {
              std::ignore = read_write_lock{others_, name_, 3}.try_acquire_shared();
            }),
            errc::misuse);
}

TEST_F(Semaphore, GoesByANumberThatWasSetWithinTenSeconds) {
  semaphore old{locks_, name_, 1};
  const auto first = old.try_acquire();
  ASSERT_TRUE(semaphore::set_permits(locks_, name_, 3).acquired());
  EXPECT_FALSE(old.try_acquire().acquired());
  time_->advance(10s);
  const auto second = old.try_acquire();
  EXPECT_TRUE(second.acquired());
  semaphore other{others_, name_, 7};
  const auto third = other.try_acquire();
  EXPECT_TRUE(third.acquired());
  EXPECT_FALSE(other.try_acquire().acquired());
  EXPECT_FALSE(old.try_acquire().acquired());
}

TEST_F(Semaphore, WhoseNumberWasLoweredLeavesItsHoldersTheirPermits) {
  semaphore used{locks_, name_, 3};
  std::vector<lease> held;
  for (int i = 0; i < 3; ++i) held.push_back(*used.try_acquire());
  ASSERT_TRUE(semaphore::set_permits(others_, name_, 1).acquired());
  time_->advance(10s);
  EXPECT_FALSE(used.try_acquire().acquired());
  for (const auto& each : held) EXPECT_TRUE(each.is_valid());
  EXPECT_EQ(used.available(), 0U);
  EXPECT_EQ(used.held().size(), 3U);
  held.clear();
  const auto first = used.try_acquire();
  EXPECT_TRUE(first.acquired());
  EXPECT_FALSE(used.try_acquire().acquired());
  EXPECT_EQ(first->key().type, "printer#1");
}

TEST_F(Semaphore, SaysHowManyArePermittedAndWhoHasThem) {
  semaphore used{locks_, name_, 3};
  EXPECT_EQ(used.available(), 3U);
  EXPECT_TRUE(used.held().empty());
  const auto held = used.try_acquire({.holder = "web1"});
  EXPECT_EQ(used.available(), 2U);
  ASSERT_EQ(used.held().size(), 1U);
  EXPECT_EQ(used.held().front().holder, "web1");
  EXPECT_EQ(used.held().front().key, held->key());
  ASSERT_TRUE(semaphore::set_permits(locks_, name_, 10).acquired());
  EXPECT_EQ(used.available(), 9U);
}

TEST_F(Semaphore, WithinAScopeSaysWhoHasIt) {
  lock_table site{locks_.within("eu")};
  semaphore used{site, name_, 2};
  const auto held = used.try_acquire();
  EXPECT_EQ(used.available(), 1U);
  EXPECT_EQ((semaphore{locks_, name_, 2}.held().size()), 0U);
}

TEST_F(Semaphore, WithAMinimumHoldLimitsARate) {
  semaphore calls{locks_, name_, 2};
  const auto call = [&] { return calls.with_permit([] {}, {.hold_at_least = 1min}).acquired(); };
  EXPECT_TRUE(call());
  time_->advance(30s);
  EXPECT_TRUE(call());
  EXPECT_FALSE(call());
  time_->advance(30s);
  EXPECT_TRUE(call());
  EXPECT_FALSE(call());
}

TEST_F(Semaphore, ReadsItsNumberOnceInTenSeconds) {
  semaphore used{locks_, name_, 3};
  EXPECT_TRUE(used.try_acquire().acquired());
  const auto reads = rows_.batches("read").size();
  time_->advance(10s);
  EXPECT_TRUE(used.try_acquire().acquired());
  EXPECT_TRUE(used.try_acquire().acquired());
  EXPECT_EQ(rows_.batches("read").size(), reads + 1);
}

TEST_F(Semaphore, IsNotGivenAnotherNumberWhileSomebodyWritesOne) {
  const auto theirs = others_.try_acquire(record_);
  const auto refused = semaphore::set_permits(locks_, name_, 4, no_wait());
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(locks_.look(record_)->note, "");
}

// Or a writer that dies would cause faults in all other processes until its lease is over.
TEST_F(Semaphore, IsRefusedWhileSomebodyIsAboutToWriteItsNumber) {
  const auto theirs = others_.try_acquire(record_);
  const auto before = time_->now();
  const auto refused = semaphore{locks_, name_, 3}.try_acquire();
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_EQ(refused.refusal().key, record_);
  EXPECT_EQ(time_->now(), before) << "it does not wait";
}

TEST_F(Semaphore, WaitsForItsNumberAsLongAsItsPolicySays) {
  auto theirs = others_.try_acquire(record_);
  semaphore used{locks_, name_, 3};
  const auto refused = answer_of([&] { return used.try_acquire({.wait = wait_for(200ms)}); });
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  rows_.after("acquire", [&] { theirs->release(); });  // once the first try is refused
  EXPECT_TRUE(answer_of([&] { return used.try_acquire({.wait = wait_for(10min)}); }).acquired());
}

// Four minutes pass with the first try, four with that which gets the record, and four with one for
// a permit.
TEST_F(Semaphore, WaitsForItsNumberAndAPermitNoLongerThanItsPolicySays) {
  auto theirs = others_.try_acquire(record_);
  const auto permit = others_.try_acquire({"printer#1", "2nd floor"});
  rows_.after("acquire", [&] {
    theirs->release();
    time_->advance(4min);
  });
  rows_.before("acquire_any", [this] { time_->advance(4min); });
  semaphore used{locks_, name_, 1};
  const auto refused = answer_of([&] { return used.try_acquire({.wait = wait_for(10min)}); });
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  EXPECT_EQ(rows_.batches("acquire_any").size(), 1) << "the wait began anew";
}

TEST_F(Semaphore, StopsWaitingForItsNumberWhenItIsTold) {
  const auto theirs = others_.try_acquire(record_);
  std::stop_source stop;
  rows_.after("acquire", [&] { stop.request_stop(); });
  const auto refused =
      semaphore{locks_, name_, 3}.try_acquire({.wait = wait_until_stopped(stop.get_token())});
  EXPECT_EQ(refused.refusal().reason, refusal_reason::stopped);
}

TEST_F(Semaphore, AsksAgainWhereItsNumberIsInUseForAMoment) {
  EXPECT_TRUE((semaphore{others_, name_, 3}.try_acquire().acquired()));
  memory_transaction work{rows_.rows()};
  ASSERT_TRUE(lock_rows(work, record_, no_wait()).acquired());
  const auto attempts = rows_.batches("acquire").size();
  rows_.before("acquire", [&] {
    if (rows_.batches("acquire").size() == attempts + 2) work.commit();
  });
  semaphore used{locks_, name_, 3};
  EXPECT_TRUE(answer_of([&] { return used.try_acquire(); }).acquired());
}

TEST_F(Semaphore, IsBusyWhileATransactionHasItsNumber) {
  EXPECT_TRUE((semaphore{others_, name_, 3}.try_acquire().acquired()));
  memory_transaction work{rows_.rows()};
  ASSERT_TRUE(lock_rows(work, record_, no_wait()).acquired());
  semaphore used{locks_, name_, 3};
  EXPECT_EQ(answer_of([&] { return used.try_acquire(); }).refusal().reason, refusal_reason::busy);
}

TEST_F(Semaphore, AgreesOnceInTenMinutes) {
  semaphore used{locks_, name_, 3};
  EXPECT_TRUE(used.try_acquire().acquired());
  const auto attempts = rows_.batches("acquire").size();
  time_->advance(10min - 1ms);
  EXPECT_TRUE(used.try_acquire().acquired());
  EXPECT_EQ(rows_.batches("acquire").size(), attempts);
  time_->advance(1ms);
  EXPECT_TRUE(used.try_acquire().acquired());
  EXPECT_EQ(rows_.batches("acquire").size(), attempts + 1);
}

TEST_F(Semaphore, KeepsItsNumberClosedForNobodyAfterACrash) {
  lock_table careful{rows_, {.ttl = 1h, .lock_delay = 5h, .time = time_}};
  std::optional<std::chrono::microseconds> closed_for;
  rows_.after("acquire",
              [&] { closed_for = rows_.rows().read(std::array{record_}).front()->remaining; });
  EXPECT_TRUE((semaphore{careful, name_, 3}.try_acquire().acquired()));
  EXPECT_EQ(closed_for, 1h);
}

TEST_F(Semaphore, OfNoPermitOrTooManyIsMisuse) {
  EXPECT_EQ(fault_of([&] { semaphore(locks_, name_, 0); }), errc::misuse);
  EXPECT_EQ(fault_of([&] { semaphore(locks_, name_, 1001); }), errc::misuse);
  EXPECT_EQ(fault_of([&] { semaphore(locks_, {"", "x"}, 1); }), errc::misuse);
  EXPECT_EQ(fault_of([&] { semaphore(locks_, name_, 1000); }), std::nullopt);
}

// Or a purge could take the row away that says how many permits there are.
TEST_F(Semaphore, KeepsItsNumberFromBeingPurged) {
  semaphore used{locks_, name_, 2};
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(used.try_acquire().acquired());
    EXPECT_EQ(rows_.purge({.older_than = 1h, .limit = 100}).purged, 0U);
    time_->advance(15min);
  }
}

TEST_F(Semaphore, KeepsItsNumberWhilePermitsAreOnlyHeld) {
  std::optional<lease> held = *semaphore{locks_, name_, 2}.try_acquire({.ttl = 24h});
  time_->advance(2h);
  EXPECT_EQ(rows_.purge({.older_than = 1h, .limit = 100}).purged, 0U);
  held.reset();
  await_that([&] { return !locks_.look({"printer#1", "2nd floor"})->owned; });
  time_->advance(2h);
  EXPECT_EQ(rows_.purge({.older_than = 1h, .limit = 100}).purged, 1U);
  EXPECT_EQ(locks_.look(record_)->note, "2 permits") << "it goes when it is the last";
  EXPECT_EQ(rows_.purge({.older_than = 1h, .limit = 100}).purged, 1U);
}

TEST_F(Semaphore, RunsACallbackUnderAPermit) {
  semaphore used{locks_, name_, 1};
  const auto done = used.with_permit([&](const lease& held) {
    EXPECT_FALSE(used.try_acquire().acquired());
    return held.key();
  });
  EXPECT_EQ(*done, (lock_key{"printer#1", "2nd floor"}));
  EXPECT_TRUE(used.try_acquire().acquired());
}

TEST_F(Semaphore, InAScopeIsAnother) {
  auto here = locks_.within("eu-1");
  semaphore all{locks_, name_, 1};
  semaphore some{here, name_, 1};
  const auto one = all.try_acquire();
  const auto other = some.try_acquire();
  EXPECT_TRUE(other.acquired());
  EXPECT_EQ(other->key(), (lock_key{"eu-1/printer#1", "2nd floor"}));
}

class ReadWriteLock : public NumberedRows {
 protected:
  read_write_lock ours_{locks_, name_, 3};
  read_write_lock theirs_{others_, name_, 3};
};

TEST_F(ReadWriteLock, LetsReadersShareAndKeepsWritersOut) {
  auto one = ours_.try_acquire_shared();
  auto other = theirs_.try_acquire_shared();
  EXPECT_TRUE(one.acquired());
  EXPECT_TRUE(other.acquired());
  EXPECT_FALSE(ours_.try_acquire_exclusive().acquired());
  EXPECT_TRUE(ours_.try_acquire_shared().acquired()) << "the refused writer has left something";
  one->release();
  other->release();
  EXPECT_TRUE(ours_.try_acquire_exclusive().acquired());
}

TEST_F(ReadWriteLock, KeepsEverybodyOutDuringAWrite) {
  const auto writing = ours_.try_acquire_exclusive();
  ASSERT_TRUE(writing.acquired());
  EXPECT_EQ(writing->size(), 4U);
  const auto refused = theirs_.try_acquire_shared();
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::held);
  EXPECT_FALSE(refused.refusal().holder.empty());
  EXPECT_FALSE(theirs_.try_acquire_exclusive().acquired());
}

TEST_F(ReadWriteLock, RefusesNobodyWhileSomebodyAgrees) {
  EXPECT_TRUE(theirs_.try_acquire_shared().acquired());
  const auto agreeing = *others_.try_acquire(record_);
  EXPECT_TRUE(ours_.try_acquire_shared().acquired());
  EXPECT_TRUE(ours_.try_acquire_exclusive().acquired());
}

TEST_F(ReadWriteLock, IsRefusedWhileSomebodyIsAboutToWriteItsNumber) {
  const auto theirs = others_.try_acquire(record_);
  EXPECT_EQ(ours_.try_acquire_shared().refusal().key, record_);
  EXPECT_EQ(ours_.try_acquire_exclusive().refusal().key, record_);
}

TEST_F(ReadWriteLock, IsStoppedWhenItsTableIsDestroyed) {
  std::optional<lock_table> whole{std::in_place, rows_, lock_options{.time = time_}};
  auto part = whole->within("eu-1");
  read_write_lock used{part, name_, 3};
  EXPECT_TRUE(used.try_acquire_shared().acquired());
  whole.reset();
  EXPECT_EQ(used.try_acquire_shared().refusal().reason, refusal_reason::stopped);
  EXPECT_EQ(used.try_acquire_exclusive().refusal().reason, refusal_reason::stopped);
  EXPECT_EQ(fault_of([&] { std::ignore = part.look(name_); }), errc::unavailable);
}

TEST_F(ReadWriteLock, HasSoManyReaders) {
  std::vector<lease> reading;
  for (int i = 0; i < 3; ++i) reading.push_back(*ours_.try_acquire_shared());
  EXPECT_FALSE(theirs_.try_acquire_shared().acquired());
}

TEST_F(ReadWriteLock, LetsNoReaderPastAWriterWhoWaits) {
  auto reading = *ours_.try_acquire_shared();
  auto writing = std::async(std::launch::async, [this] {
    return theirs_.try_acquire_exclusive({.wait = wait_for(10min)}).acquired();
  });
  await_live({"printer#4", "2nd floor"});
  EXPECT_FALSE(ours_.try_acquire_shared().acquired());
  EXPECT_TRUE(reading.is_valid());
  reading.release();
  await_answer(writing, [this] { time_->advance(5ms); });
  EXPECT_TRUE(writing.get());
  EXPECT_TRUE(ours_.try_acquire_shared().acquired());
}

TEST_F(ReadWriteLock, LeavesNothingBehindWhenAWriterGivesUp) {
  const auto reading = ours_.try_acquire_shared();
  const auto refused =
      answer_of([this] { return theirs_.try_acquire_exclusive({.wait = wait_for(100ms)}); });
  ASSERT_FALSE(refused.acquired());
  EXPECT_EQ(refused.refusal().reason, refusal_reason::timed_out);
  EXPECT_TRUE(ours_.try_acquire_shared().acquired());
}

TEST_F(ReadWriteLock, WritesUnderGreaterVersionsThanItsReadersHad) {
  const auto read = *ours_.with_shared([](const lease& held) { return held.token(); });
  const auto written = ours_.with_exclusive([&](const lease_set& held) {
    auto greatest = held.leases().front().token();
    for (const auto& each : held.leases()) greatest = std::max(greatest, each.token());
    return greatest;
  });
  EXPECT_GT(*written, read);
}

TEST_F(ReadWriteLock, HoldsNothingAtLeastSomeTimeForAWriter) {
  EXPECT_EQ(fault_of([&] { std::ignore = ours_.try_acquire_exclusive({.hold_at_least = 1h}); }),
            errc::misuse);
  EXPECT_TRUE(ours_.try_acquire_shared({.hold_at_least = 1h}).acquired());
}

TEST_F(ReadWriteLock, OfTooManyReadersIsMisuse) {
  EXPECT_EQ(fault_of([&] { read_write_lock(locks_, name_, 1000); }), errc::misuse);
  EXPECT_EQ(fault_of([&] { read_write_lock(locks_, name_, 0); }), errc::misuse);
}

}  // namespace
}  // namespace rowlock::tests
