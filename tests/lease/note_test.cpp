// What a holder writes into its row.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <string>
#include <vector>

#include "lease/observed_leases.hpp"
#include "rowlock/error.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class LeaseNote : public lease_state_test {
 protected:
  std::string note() { return rows_.rows().read(std::array{key_}).front().value().note; }

  const lock_key key_{"job", "a"};
};

TEST_F(LeaseNote, IsInTheRowForAllToRead) {
  lease held = acquire("a");
  EXPECT_EQ(held.write_note("page 1 of 3"), note_result::written);
  EXPECT_EQ(note(), "page 1 of 3");
  EXPECT_EQ(held.write_note("page 2 of 3"), note_result::written);
  EXPECT_EQ(held.release(), release_result::released);
  EXPECT_EQ(note(), "page 2 of 3");
}

TEST_F(LeaseNote, OfTheAttemptIsWrittenWithTheGrant) {
  const auto held = locks_->try_acquire(key_, {.note = "nightly"});
  EXPECT_EQ(note(), "nightly");
  EXPECT_FALSE(locks_->try_acquire(key_, {.note = "of a refused attempt"}).acquired());
  EXPECT_EQ(note(), "nightly");
}

TEST_F(LeaseNote, OfALeaseThatIsOverIsNotSent) {
  lease released = acquire("a");
  released.release();
  EXPECT_EQ(released.write_note("late"), note_result::lost);
  lease closed = acquire("a");
  locks_.reset();
  EXPECT_EQ(closed.write_note("late"), note_result::lost);
  EXPECT_TRUE(rows_.batches("write_note").empty());
}

TEST_F(LeaseNote, OfALeaseThatWasTakenAwayIsLost) {
  const lease held = acquire("a");
  rows_.rows().force_release({.key = key_, .version = held.token(), .reason = "a test"});
  EXPECT_EQ(held.write_note("late"), note_result::lost);
  EXPECT_EQ(note(), "");
}

TEST_F(LeaseNote, OfARowThatATransactionHasIsBusyAfterAMoment) {
  const lease held = acquire("a");
  memory_transaction work{rows_.rows()};
  fence(work, held);
  auto written = std::async(std::launch::async, [&] { return held.write_note("now"); });
  await_answer(written, [&] { time_->advance(5ms); });
  EXPECT_EQ(written.get(), note_result::busy);
  EXPECT_GT(rows_.batches("write_note").size(), 1U);
  EXPECT_TRUE(held.is_valid());
}

class ObservedNote : public Observer {};

TEST_F(ObservedNote, ThatCannotBeWrittenIsAFault) {
  const lease held = acquire("a");
  rows_.before("write_note", [] { throw error{errc::unavailable, "the network is down: wait"}; });
  EXPECT_THROW((void)held.write_note("page 1"), error);
  EXPECT_EQ(observer_->await<fault_event>().code, errc::unavailable);
  EXPECT_EQ(faults_of(fault_operation::note), std::vector{key_});
}

TEST_F(LeaseNote, ThatIsTooLongIsMisuse) {
  const lease held = acquire("a");
  const std::string too_long(1025, 'n');
  EXPECT_TRUE(is_misuse([&] { (void)held.write_note(too_long); }));
  EXPECT_TRUE(is_misuse([&] { (void)locks_->try_acquire({"job", "b"}, {.note = too_long}); }));
  EXPECT_TRUE(is_free("b"));
  EXPECT_TRUE(held.is_valid());
}

}  // namespace
}  // namespace rowlock::tests
