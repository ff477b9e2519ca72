// Which thread makes the statement of calls that meet, moment by moment.
#include "core/shared_statements.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace rowlock::detail {
namespace {

TEST(SharedStatements, WhoComesBeforeALeaderIsAwakeIsInItsStatementAndBeginsNoneBesideIt) {
  shared_statements statements{4, 256};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(statements.try_begin(statement_kind::acquire));
  meeting_call leader{.kind = statement_kind::acquire, .requests = 1};
  auto fate = std::async(std::launch::async, [&] { return statements.await(leader); });
  while (statements.waiting() == 0) std::this_thread::yield();
  statements.end({}, {});  // from here on it is to lead
  statements.end({}, {});  // a place for one more

  EXPECT_FALSE(statements.try_begin(statement_kind::acquire));
  EXPECT_TRUE(statements.try_begin(statement_kind::release)) << "which it could not take along";
  EXPECT_EQ(fate.get(), meeting_call::fate::leading);
  EXPECT_EQ(statements.lead(leader), std::vector{&leader});
  statements.end({}, {});
  EXPECT_TRUE(statements.try_begin(statement_kind::acquire)) << "it would come too late for that";
}

TEST(SharedStatements, WhoIsTooMuchForALeaderBeginsBesideIt) {
  shared_statements statements{4, 2};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(statements.try_begin(statement_kind::acquire));
  meeting_call leader{.kind = statement_kind::acquire, .requests = 1};
  meeting_call other{.kind = statement_kind::acquire, .requests = 2};
  const auto start = [&](meeting_call& call, std::size_t waiting) {
    auto fate = std::async(std::launch::async, [&] { return statements.await(call); });
    while (statements.waiting() < waiting) std::this_thread::yield();
    return fate;
  };
  auto first = start(leader, 1);
  auto second = start(other, 2);
  statements.end({}, {});
  statements.end({}, {});
  EXPECT_EQ(first.get(), meeting_call::fate::leading);
  EXPECT_EQ(statements.waiting(), 1);
  EXPECT_EQ(statements.lead(leader), std::vector{&leader});
  EXPECT_EQ(second.get(), meeting_call::fate::leading);
}

}  // namespace
}  // namespace rowlock::detail
