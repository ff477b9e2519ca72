// Which thread makes the statement of calls that meet, moment by moment.
#include "core/shared_statements.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

class SharedStatements : public testing::Test {
 protected:
  static constexpr auto acquire = statement_kind::acquire;

  /// Returns once it waits.
  static std::future<meeting_call::fate> await(shared_statements& statements, meeting_call& call) {
    const auto waiting = statements.waiting() + 1;
    auto fate = std::async(std::launch::async, [&] { return statements.await(call); });
    while (statements.waiting() < waiting) std::this_thread::yield();
    return fate;
  }

  meeting_call one_{.kind = acquire, .requests = 1};
  meeting_call two_{.kind = acquire, .requests = 2};
};

TEST_F(SharedStatements, NoneBeginsBesideOneThatTakesNoLongerThanUsual) {
  shared_statements statements{4, 256, 24h};
  const auto first = statements.try_begin(acquire);
  ASSERT_TRUE(first);
  EXPECT_FALSE(statements.try_begin(acquire));
  EXPECT_FALSE(statements.try_begin(statement_kind::release));
  auto fate = await(statements, one_);
  statements.end(*first, {}, {});
  EXPECT_EQ(fate.get(), meeting_call::fate::leading);
}

TEST_F(SharedStatements, OthersBeginBesideOneThatTakesLongerUntilOneOfThemDoes) {
  shared_statements statements{4, 256, 1ms};
  ASSERT_TRUE(statements.try_begin(acquire));
  EXPECT_EQ(statements.await(one_), meeting_call::fate::leading);
  statements.lead(one_);
  statements.end(one_.statement, {&one_}, {});
  // What is under way now is older than usual, however young the one was that has ended.
  EXPECT_TRUE(statements.try_begin(acquire));
}

TEST_F(SharedStatements, WhoComesBeforeALeaderIsAwakeIsInItsStatementAndBeginsNoneBesideIt) {
  shared_statements statements{4, 256, 0ms};
  std::vector<statement_id> begun;
  for (int i = 0; i < 3; ++i) begun.push_back(statements.try_begin(acquire).value());
  auto fate = await(statements, one_);
  statements.end(begun[0], {}, {});  // from here on it is to lead
  statements.end(begun[1], {}, {});  // a place for one more

  EXPECT_FALSE(statements.try_begin(acquire));
  const auto release = statements.try_begin(statement_kind::release);
  EXPECT_TRUE(release) << "which it could not take along";
  EXPECT_EQ(fate.get(), meeting_call::fate::leading);
  EXPECT_EQ(statements.lead(one_), std::vector{&one_});
  statements.end(*release, {}, {});
  EXPECT_TRUE(statements.try_begin(acquire)) << "it would come too late for that";
}

TEST_F(SharedStatements, WhoIsTooMuchForALeaderBeginsBesideIt) {
  shared_statements statements{4, 2, 0ms};
  std::vector<statement_id> begun;
  for (int i = 0; i < 3; ++i) begun.push_back(statements.try_begin(acquire).value());
  auto leader = await(statements, one_);
  auto other = await(statements, two_);
  statements.end(begun[0], {}, {});
  statements.end(begun[1], {}, {});
  EXPECT_EQ(leader.get(), meeting_call::fate::leading);
  EXPECT_EQ(statements.waiting(), 1);
  EXPECT_EQ(statements.lead(one_), std::vector{&one_});
  EXPECT_EQ(other.get(), meeting_call::fate::leading);
}

}  // namespace
}  // namespace rowlock::detail
