// Which call gets a session of a pool, and which has to wait.
#include "store/session_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "rowlock/error.hpp"
#include "support/patience.hpp"

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

/// A session that makes no calls. Counts the sessions that are open.
class numbered_session final : public session {
 public:
  numbered_session(int n, int& o, int& l) : number{n}, open{o}, lost{l} { ++open; }
  ~numbered_session() override { --open; }

  void check_table() override { ++checks; }
  [[nodiscard]] bool is_usable() const noexcept override { return usable; }
  [[nodiscard]] bool is_alive() const noexcept override { return alive; }
  void disconnect() noexcept override { ++lost; }

  int number;
  int& open;
  int& lost;
  int checks = 0;
  bool usable = true;
  bool alive = true;

 protected:
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> /*requests*/,
                                         acquire_mode /*mode*/) override {
    return {};
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> /*requests*/) override {
    return {};
  }
  std::vector<change_answer> do_release(std::span<const release_request> /*requests*/) override {
    return {};
  }
  change_answer do_write_note(const note_request& /*request*/) override { return {}; }
  change_answer do_ask(const ask_request& /*request*/) override { return {}; }
  std::vector<std::optional<row_state>> do_read(std::span<const lock_key> /*keys*/,
                                                read_mode /*mode*/) override {
    return {};
  }
  database_time do_now() override { return {}; }
  std::vector<row_state> do_list(const list_request& /*request*/) override { return {}; }
  force_answer do_force_release(const force_request& /*request*/) override { return {}; }
  purge_answer do_purge(const purge_request& /*request*/) override { return {}; }
};

numbered_session& in(session_pool::loan& lent) { return dynamic_cast<numbered_session&>(*lent); }
int number_in(session_pool::loan lent) { return in(lent).number; }

template <class Work>
void in_call(session_pool& sessions, const Work& work) {
  auto on_session = [&](store& used) { work(dynamic_cast<numbered_session&>(used)); };
  sessions.run(session_use::anything, work_on_store{on_session});
}

class SessionPool : public testing::Test {
 protected:
  static constexpr auto keeping_leases = session_use::keeping_leases;

  class counting_source final : public session_source {
   public:
    explicit counting_source(SessionPool& all) : all_{all} {}

    std::unique_ptr<session> open() override {
      ++all_.attempts_;
      if (all_.is_down_) throw error{errc::unavailable, "away"};
      if (all_.open_ >= all_.limit_) throw no_connection_left{"the role has no connection left"};
      auto made = std::make_unique<numbered_session>(++all_.opened_, all_.open_, all_.lost_);
      all_.most_open_ = std::max(all_.most_open_, all_.open_);
      return made;
    }
    [[nodiscard]] store_limits limits() const noexcept override { return {}; }

   private:
    SessionPool& all_;
  };

  session_pool make_pool(unsigned size, std::chrono::milliseconds timeout = 0ms,
                         std::chrono::milliseconds before_reopening = 1h) {
    return session_pool{std::make_unique<counting_source>(*this), size, timeout, before_reopening};
  }
  static std::unique_ptr<session_pool::loan> take_from(
      session_pool& sessions, session_use used_for = session_use::anything) {
    return std::unique_ptr<session_pool::loan>{new session_pool::loan(sessions.take(used_for))};
  }

  bool is_down_ = false;
  std::atomic<int> limit_ = 10;  // of the server
  int attempts_ = 0;
  int opened_ = 0;
  int open_ = 0;
  int most_open_ = 0;
  int lost_ = 0;  // by `disconnect`
};

TEST_F(SessionPool, CallsForNewLeasesNeverHaveAll) {
  auto three = make_pool(3);
  const auto one = three.take();
  const auto other = three.take();
  EXPECT_THROW(three.take(), error);
  const auto renewal = three.take(keeping_leases);
  EXPECT_THROW(three.take(keeping_leases), error);
}

TEST_F(SessionPool, CallsForNewLeasesMayHaveTheLastOneWhereOthersKeepLeases) {
  auto three = make_pool(3);
  const auto renewal = three.take(keeping_leases);
  const auto one = three.take();
  const auto other = three.take();
  EXPECT_THROW(three.take(keeping_leases), error);
}

TEST_F(SessionPool, TheOnlyOneIsForAllCalls) {
  auto one = make_pool(1);
  EXPECT_EQ(number_in(one.take()), 1);
  const auto renewal = one.take(keeping_leases);
  EXPECT_THROW(one.take(), error);
}

TEST_F(SessionPool, OneThatIsGivenBackIsUsedAgainUnlessItIsDead) {
  auto two = make_pool(2);
  EXPECT_EQ(number_in(two.take()), 1);
  {
    auto again = two.take();
    EXPECT_EQ(in(again).number, 1);
    in(again).alive = false;
  }
  EXPECT_EQ(number_in(two.take()), 2);
  EXPECT_EQ(most_open_, 1) << "there may be no room for two";
}

TEST_F(SessionPool, TheOldestOneThatIsIdleIsUsed) {
  auto four = make_pool(4);
  auto one = take_from(four);
  auto two = take_from(four);
  auto three = take_from(four);
  two.reset();
  one.reset();
  three.reset();
  auto first = four.take();
  EXPECT_EQ(in(first).number, 1);
  EXPECT_EQ(number_in(four.take()), 2);
  auto second = four.take();
  EXPECT_EQ(in(second).number, 2);
  EXPECT_EQ(number_in(four.take()), 3);
}

TEST_F(SessionPool, AWaitingCallGetsOneThatIsGivenBack) {
  auto one = make_pool(1, 1h);
  std::vector<std::future<int>> numbers;
  {
    const auto held = one.take();
    for (const auto used_for : {session_use::anything, keeping_leases}) {
      numbers.push_back(std::async(std::launch::async,
                                   [&one, used_for] { return number_in(one.take(used_for)); }));
    }
    tests::await_that([&] { return one.waiting() >= 2; });
  }
  for (auto& number : numbers) EXPECT_EQ(number.get(), 1);
}

TEST_F(SessionPool, APlaceWhoseSessionCannotBeOpenedIsFreeAgain) {
  auto one = make_pool(1);
  is_down_ = true;
  EXPECT_THROW(one.take(), error);
  is_down_ = false;
  EXPECT_EQ(number_in(one.take()), 1);
}

TEST_F(SessionPool, WhereNoFurtherOneCanBeOpenedACallWaitsForOneThatIsOpen) {
  limit_ = 1;
  auto four = make_pool(4, 1h);
  auto first = take_from(four);
  for (const auto used_for : {session_use::anything, keeping_leases}) {
    auto other = std::async(std::launch::async,
                            [&four, used_for] { return number_in(four.take(used_for)); });
    tests::await_that([&] { return four.waiting() >= 1; });
    first.reset();
    EXPECT_EQ(other.get(), 1);
    first = take_from(four);
  }
  EXPECT_EQ(attempts_, 2) << "the server was asked for another one only once";
}

TEST_F(SessionPool, AWaitForOneOfTooFewEndsWithWhyThereAreNotMore) {
  limit_ = 1;
  auto four = make_pool(4);
  const auto first = take_from(four);
  for (int i = 0; i < 2; ++i) {
    try {
      four.take();
      ADD_FAILURE() << "there is only one";
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.kind(), errc::unavailable);
      EXPECT_NE(std::string{thrown.what()}.find("no connection left"), std::string::npos);
    }
  }
}

TEST_F(SessionPool, OneOfTooFewIsKeptForRenewalsToo) {
  limit_ = 2;
  auto four = make_pool(4);
  const auto one = take_from(four);
  {
    const auto two = take_from(four);
    EXPECT_THROW(four.take(), error);
  }
  EXPECT_THROW(four.take(), error);
  EXPECT_EQ(number_in(four.take(keeping_leases)), 2);
}

TEST_F(SessionPool, OneOfTooFewIsKeptForRenewalsAlsoWhenItTriesToOpenFurtherOnesAgain) {
  limit_ = 2;
  auto four = make_pool(4, 0ms, 0ms);
  const auto one = take_from(four);
  {
    const auto two = take_from(four);
    EXPECT_THROW(four.take(), error);
  }
  EXPECT_THROW(four.take(), error);
  EXPECT_EQ(number_in(four.take(keeping_leases)), 2);
  limit_ = 3;
  EXPECT_EQ(number_in(four.take()), 3);
}

TEST_F(SessionPool, OneOfTooFewIsKeptForRenewalsAlsoAfterTheOneThatWasKeptIsLost) {
  limit_ = 2;
  auto four = make_pool(4, 0ms, 0ms);
  const auto one = take_from(four);
  EXPECT_EQ(number_in(four.take()), 2);
  {
    const auto two = take_from(four);
    EXPECT_THROW(four.take(), error);
    in(*two).usable = false;
  }
  EXPECT_THROW(four.take(), error);
  EXPECT_EQ(number_in(four.take(keeping_leases)), 3);
}

TEST_F(SessionPool, AfterAWhileItTriesToOpenFurtherOnesAgain) {
  limit_ = 1;
  auto four = make_pool(4, 0ms, 0ms);
  const auto one = take_from(four);
  EXPECT_THROW(four.take(), error);
  limit_ = 2;
  EXPECT_EQ(number_in(four.take()), 2);
}

TEST_F(SessionPool, AWaitForOneOfTooFewTriesToOpenFurtherOnesAgain) {
  limit_ = 1;
  auto four = make_pool(4, 1h, 1ms);
  const auto one = take_from(four);
  auto other = std::async(std::launch::async, [&four] { return number_in(four.take()); });
  tests::await_that([&] { return four.waiting() >= 1; });
  limit_ = 2;
  EXPECT_EQ(other.get(), 2);
}

TEST_F(SessionPool, ThatCannotOpenItsFirstOneSaysSo) {
  limit_ = 0;
  auto four = make_pool(4, 1h);
  EXPECT_THROW(four.take(), no_connection_left);
  limit_ = 1;
  EXPECT_EQ(number_in(four.take()), 1);
}

TEST_F(SessionPool, OneThatAnsweredDuringALostCallIsUsedOn) {
  auto four = make_pool(4);
  {
    auto lost = take_from(four);
    const auto answers_meanwhile = take_from(four);
    in(*lost).usable = false;
  }
  EXPECT_EQ(number_in(four.take()), 2);
}

TEST_F(SessionPool, ThoseThatWereIdleDuringALostCallAreReplaced) {
  auto four = make_pool(4);
  {
    std::vector<std::unique_ptr<session_pool::loan>> at_once;
    for (int i = 0; i < 3; ++i) at_once.push_back(take_from(four));
  }
  in_call(four, [](numbered_session& used) { used.usable = false; });
  const auto one = take_from(four);
  const auto two = take_from(four);
  EXPECT_EQ(in(*one).number, 4);
  EXPECT_EQ(in(*two).number, 5);
  EXPECT_EQ(open_, 2) << "those that were idle are closed";
}

// Its owner may ask the server whether it is connected, and wait for the answer.
TEST_F(SessionPool, OneThatIsNotUsedAgainIsDisconnected) {
  auto four = make_pool(4);
  {
    std::vector<std::unique_ptr<session_pool::loan>> at_once;
    for (int i = 0; i < 3; ++i) at_once.push_back(take_from(four));
  }
  EXPECT_EQ(lost_, 0);
  in_call(four, [](numbered_session& used) { used.usable = false; });
  EXPECT_EQ(lost_, 1);
  in_call(four, [](numbered_session& used) { used.alive = false; });
  EXPECT_EQ(lost_, 2) << "the first that was idle is suspect";
  (void)four.take();
  EXPECT_EQ(lost_, 3);
}

TEST_F(SessionPool, TheTableIsCheckedBeforeTheFirstCallOnly) {
  auto one = make_pool(1);
  std::vector<int> checks;
  for (int i = 0; i < 2; ++i) {
    in_call(one, [&](numbered_session& used) { checks.push_back(used.checks); });
  }
  EXPECT_EQ(checks, (std::vector{1, 1}));
}

TEST_F(SessionPool, ASessionThatCannotBeUsedAfterAFaultIsReplaced) {
  auto one = make_pool(1);
  for (const bool stays_usable : {true, false}) {
    EXPECT_THROW(in_call(one,
                         [&](numbered_session& used) {
                           used.usable = stays_usable;
                           throw error{errc::unavailable, "lost"};
                         }),
                 error);
    EXPECT_EQ(number_in(one.take()), stays_usable ? 1 : 2);
  }
}

TEST_F(SessionPool, ASessionThatCannotBeUsedAfterACallIsReplaced) {
  auto one = make_pool(1);
  in_call(one, [](numbered_session& used) { used.usable = false; });
  EXPECT_EQ(number_in(one.take()), 2);
}

}  // namespace
}  // namespace rowlock::detail
