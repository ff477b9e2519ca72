// The behaviour of the lock manager's store, on each engine.
#include "origins/lock_manager/lock_manager.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "origins/support/origin_test.hpp"

namespace origins {
namespace {

using fault = rowlock::faulty_store::call;
using pauses = std::vector<std::chrono::milliseconds>;

/// A client that others use too; it knows when it was closed.
class shared_client final : public rowlock::passing_store {
 public:
  using rowlock::passing_store::passing_store;
  void close() { is_closed_ = true; }

 protected:
  void pass(rowlock::store_call made, rowlock::work_on_store work) override {
    if (is_closed_) throw rowlock::error{rowlock::errc::misuse, "the client is closed"};
    passing_store::pass(made, work);
  }

 private:
  bool is_closed_ = false;
};

class LockManager : public origin_test {
 protected:
  lock_store make(const std::string& farm, const std::string& suffix = "jobs") {
    return {client_,
            [this] { client_->close(); },
            {.farm_id = farm, .set_suffix = suffix, .time = virtual_, .now = [] {
               return std::chrono::system_clock::time_point{1'700'000'000'123ms};
             }}};
  }
  static std::string cause_of(const std::exception& thrown) {
    try {
      std::rethrow_if_nested(thrown);
    } catch (const std::exception& cause) {
      return cause.what();
    }
    return "";
  }

  const std::shared_ptr<shared_client> client_ = std::make_shared<shared_client>(faulty_);
  lock_store locks_ = make("farm-1");
  lock_store theirs_ = make("farm-2");
  const rowlock::lock_key row_ = locks_.row_of("a", lock_level::xdc);
};

TEST_P(LockManager, NamesItsSetsByLevelFarmAndSuffix) {
  EXPECT_EQ(locks_.set_name(lock_level::dc), "DC#farm-1#jobs");
  EXPECT_EQ(locks_.set_name(lock_level::xdc), "XDC#jobs");
}

TEST_P(LockManager, WritesTheRecordIfThereIsNone) {
  locks_.initialize();
  locks_.write("a", lock_level::xdc, 1h);
  ASSERT_TRUE(is_held(row_));
  EXPECT_EQ(row(row_)->holder, "farm-1");
  EXPECT_EQ(row(row_)->note, "farm-1##data=1 farm-1##uat=1700000000123");
}

TEST_P(LockManager, IsUnavailableIfThereIsOneAndDoesNotTryAgain) {
  locks_.write("a", lock_level::xdc, 1h);
  EXPECT_THROW(theirs_.write("a", lock_level::xdc, 1h), lock_unavailable);
  EXPECT_THROW(locks_.write("a", lock_level::xdc, 1h), lock_unavailable);
  EXPECT_EQ(virtual_->pauses(), pauses{});
}

TEST_P(LockManager, FreesItselfAfterItsTtl) {
  locks_.write("a", lock_level::xdc, 1h);
  bench_->run_out(row_);
  EXPECT_NO_THROW(theirs_.write("a", lock_level::xdc, 1h));
}

TEST_P(LockManager, OfDifferentFarmsNeverMeetsInADataCentre) {
  locks_.write("a", lock_level::dc, 1h);
  EXPECT_NO_THROW(theirs_.write("a", lock_level::dc, 1h));
}

TEST_P(LockManager, OfDifferentFarmsMeetsAcrossDataCentres) {
  locks_.write("a", lock_level::xdc, 1h);
  EXPECT_THROW(theirs_.write("a", lock_level::xdc, 1h), lock_unavailable);
}

TEST_P(LockManager, OfDifferentLevelsOrSuffixesNeverMeets) {
  locks_.write("a", lock_level::dc, 1h);
  EXPECT_NO_THROW(locks_.write("a", lock_level::xdc, 1h));
  EXPECT_NO_THROW(make("farm-1", "mails").write("a", lock_level::dc, 1h));
}

// Their joined names could be the same.
TEST_P(LockManager, RefusesAFarmOrASuffixWithTheCharacterThatJoinsThem) {
  EXPECT_THROW(make("farm-1#jobs", "x"), std::invalid_argument);
  EXPECT_THROW(make("farm-1", "jobs#x"), std::invalid_argument);
}

TEST_P(LockManager, TriesAWriteFiveTimesWithAFixedPause) {
  for (int i = 0; i < 5; ++i) faulty_.next_is_unavailable(fault::acquire);
  try {
    locks_.write("a", lock_level::xdc, 1h);
    ADD_FAILURE() << "no error";
  } catch (const connection_error& thrown) {
    EXPECT_NE(cause_of(thrown).find("try again later"), std::string::npos);
  }
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
  EXPECT_EQ(faulty_.pending(), 0U);
}

TEST_P(LockManager, WritesAfterFourFaults) {
  for (int i = 0; i < 4; ++i) faulty_.next_is_unavailable(fault::acquire);
  locks_.write("a", lock_level::xdc, 1h);
  EXPECT_TRUE(is_held(row_));
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
}

TEST_P(LockManager, RemovesTheRecord) {
  locks_.write("a", lock_level::xdc, 1h);
  locks_.remove("a", lock_level::xdc);
  EXPECT_FALSE(is_held(row_));
  EXPECT_NO_THROW(theirs_.write("a", lock_level::xdc, 1h));
}

TEST_P(LockManager, RemovesWhatIsNotThereWithoutAnError) {
  EXPECT_NO_THROW(locks_.remove("a", lock_level::xdc));
}

TEST_P(LockManager, TriesARemoveFiveTimesWithAFixedPause) {
  locks_.write("a", lock_level::xdc, 1h);
  for (int i = 0; i < 5; ++i) faulty_.next_is_unavailable(fault::release);
  try {
    locks_.remove("a", lock_level::xdc);
    ADD_FAILURE() << "no error";
  } catch (const retries_exhausted& thrown) {
    EXPECT_NE(cause_of(thrown).find("try again later"), std::string::npos);
  }
  EXPECT_EQ(virtual_->pauses(), pauses(4, 80ms));
  EXPECT_TRUE(is_held(row_));
  locks_.remove("a", lock_level::xdc);
  EXPECT_FALSE(is_held(row_));
}

TEST_P(LockManager, ClosesAClientThatOthersUseToo) {
  locks_.close();
  EXPECT_THROW(locks_.write("a", lock_level::xdc, 1h), connection_error);
  EXPECT_THROW(locks_.remove("a", lock_level::xdc), connection_error);
  EXPECT_THROW(theirs_.write("a", lock_level::xdc, 1h), connection_error);
}

TEST_P(LockManager, ClosesAClientOfItsOwn) {
  lock_store owning{std::make_unique<shared_client>(faulty_),
                    {.farm_id = "farm-1", .set_suffix = "jobs", .time = virtual_}};
  owning.write("a", lock_level::xdc, 1h);
  owning.close();
  EXPECT_THROW(owning.remove("a", lock_level::xdc), connection_error);
  EXPECT_THROW(theirs_.write("a", lock_level::xdc, 1h), lock_unavailable);
}

// What the original could not promise.

TEST_P(LockManager, RemovesNoRecordOfASuccessor) {
  locks_.write("a", lock_level::xdc, 1h);
  bench_->run_out(row_);
  theirs_.write("a", lock_level::xdc, 1h);
  locks_.remove("a", lock_level::xdc);
  ASSERT_TRUE(is_held(row_));
  EXPECT_EQ(row(row_)->holder, "farm-2");
}

TEST_P(LockManager, KnowsItsOwnRecordWhenTheAnswerGotLost) {
  faulty_.next_is_in_doubt(fault::acquire);
  locks_.write("a", lock_level::xdc, 1h);
  EXPECT_EQ(virtual_->pauses(), pauses{80ms});
  locks_.remove("a", lock_level::xdc);
  EXPECT_FALSE(is_held(row_));
}

INSTANTIATE_TEST_SUITE_P(Engines, LockManager, testing::ValuesIn(engines()), name_of);

}  // namespace
}  // namespace origins
