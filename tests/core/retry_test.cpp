// What is run again, and what is not.
#include "rowlock/retry.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

const retry_policy three_tries{.attempts = 3, .first_pause = 1ms, .longest_pause = 1ms};

outcome<int> refused_with(refusal_reason reason) { return refusal{.reason = reason}; }

TEST(Retry, RunsAgainWhileTheAnswerIsStale) {
  int runs = 0;
  const auto result = retry(three_tries, [&]() -> outcome<int> {
    return ++runs < 3 ? refused_with(refusal_reason::stale) : outcome<int>{42};
  });
  EXPECT_EQ(*result, 42);
  EXPECT_EQ(runs, 3);
}

TEST(Retry, GivesTheLastAnswerBackWhenItGivesUp) {
  int runs = 0;
  const auto result = retry(three_tries, [&] {
    ++runs;
    return commit_result::stale;
  });
  EXPECT_EQ(result, commit_result::stale);
  EXPECT_EQ(runs, 3);
}

TEST(Retry, LeavesOtherRefusalsToTheCaller) {
  for (const auto reason : {refusal_reason::held, refusal_reason::busy, refusal_reason::timed_out,
                            refusal_reason::stopped}) {
    int runs = 0;
    const auto result = retry(three_tries, [&] {
      ++runs;
      return refused_with(reason);
    });
    EXPECT_EQ(result.refusal().reason, reason);
    EXPECT_EQ(runs, 1);
  }
}

TEST(Retry, LetsExceptionsThroughThatAreNoConflict) {
  int runs = 0;
  const auto fail = [&]() -> outcome<int> {
    ++runs;
    throw error{errc::outcome_unknown, "the connection broke"};
  };
  EXPECT_THROW(static_cast<void>(retry(three_tries, fail)), error);
  EXPECT_EQ(runs, 1);
}

struct known_conflict : std::runtime_error {
  known_conflict() : std::runtime_error{"could not serialize access"} {}
};

TEST(Retry, RunsAgainAfterAConflictThatADriverThrew) {
  detail::recognise_conflicts([](const std::exception& thrown) {
    return dynamic_cast<const known_conflict*>(&thrown) != nullptr;
  });
  int runs = 0;
  const auto conflict_once = [&]() -> outcome<int> {
    if (++runs == 1) throw known_conflict{};
    return 42;
  };
  EXPECT_EQ(*retry(three_tries, conflict_once), 42);

  const auto conflict_always = [&]() -> outcome<int> { throw known_conflict{}; };
  EXPECT_THROW(static_cast<void>(retry(three_tries, conflict_always)), known_conflict);
}

}  // namespace
}  // namespace rowlock::tests
