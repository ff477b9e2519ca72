// Permits and readers: rows that are numbered.
#include "rowlock/semaphore.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "core/hooked_store.hpp"
#include "rowlock/error.hpp"
#include "rowlock/read_write_lock.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

class NumberedRows : public testing::Test {
 protected:
  /// What the caller is told, or nothing.
  template <class Call>
  static std::optional<errc> fault_of(const Call& call) {
    try {
      call();
      return std::nullopt;
    } catch (const error& thrown) {
      return static_cast<errc>(thrown.kind());
    }
  }

  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  hooked_store rows_{time_};
  lock_table locks_{rows_, {.ttl = 1h, .time = time_}};
  lock_table others_{rows_, {.ttl = 1h, .time = time_}};
  const lock_key name_{"printer", "2nd floor"};
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
  EXPECT_EQ(locks_.look({"printer#0", "2nd floor"})->note, "3 permits");
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

TEST_F(Semaphore, CanBeGivenAnotherNumber) {
  semaphore old{locks_, name_, 3};
  const auto held = old.try_acquire();
  semaphore::set_permits(locks_, name_, 4);
  semaphore other{others_, name_, 4};
  EXPECT_TRUE(other.try_acquire().acquired());
  time_->advance(10min);
  EXPECT_EQ(fault_of([&] { std::ignore = old.try_acquire(); }), errc::misuse);
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
    EXPECT_EQ(rows_.purge({.older_than = 1h, .at_most = 100}).purged, 0U);
    time_->advance(15min);
  }
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

TEST_F(ReadWriteLock, HasSoManyReaders) {
  std::vector<lease> reading;
  for (int i = 0; i < 3; ++i) reading.push_back(*ours_.try_acquire_shared());
  EXPECT_FALSE(theirs_.try_acquire_shared().acquired());
}

TEST_F(ReadWriteLock, LetsNoReaderPastAWriterWhoWaits) {
  auto reading = *ours_.try_acquire_shared();
  std::jthread moving{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      time_->advance(5ms);
      std::this_thread::sleep_for(1ms);
    }
  }};
  std::optional<bool> has_written;
  std::jthread writing{
      [&] { has_written = theirs_.try_acquire_exclusive({.wait = wait_for(10min)}).acquired(); }};
  while (!locks_.look({"printer#0", "2nd floor"})->is_live()) std::this_thread::sleep_for(1ms);
  EXPECT_FALSE(ours_.try_acquire_shared().acquired());
  EXPECT_TRUE(reading.is_valid());
  reading.release();
  writing.join();
  EXPECT_EQ(has_written, true);
  EXPECT_TRUE(ours_.try_acquire_shared().acquired());
}

TEST_F(ReadWriteLock, LeavesNothingBehindWhenAWriterGivesUp) {
  const auto reading = ours_.try_acquire_shared();
  std::jthread moving{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      time_->advance(5ms);
      std::this_thread::sleep_for(1ms);
    }
  }};
  const auto refused = theirs_.try_acquire_exclusive({.wait = wait_for(100ms)});
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
