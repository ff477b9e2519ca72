// What is run again, and what is not.
#include "rowlock/retry.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <sstream>
#include <stdexcept>
#include <vector>

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

outcome<int> away() { throw error{errc::unavailable, "the server is away: wait"}; }

TEST(Retry, LeavesAnOutageToTheCallerUnlessAskedToOutlastIt) {
  int runs = 0;
  const auto away_twice = [&]() -> outcome<int> { return ++runs < 3 ? away() : outcome<int>{42}; };
  EXPECT_THROW((void)retry(three_tries, away_twice), error);
  EXPECT_EQ(runs, 1);
  auto patient = three_tries;
  patient.through_outages = true;
  runs = 0;
  EXPECT_EQ(*retry(patient, away_twice), 42);
  EXPECT_THROW((void)retry(patient, away), error);
}

TEST(Retry, RunsNothingAgainThatMayHaveHappened) {
  auto patient = three_tries;
  patient.through_outages = true;
  for (const auto kind : {errc::outcome_unknown, errc::rejected, errc::misuse, errc::lease_lost}) {
    int runs = 0;
    const auto fail = [&]() -> outcome<int> {
      ++runs;
      throw error{kind, "no retry helps"};
    };
    EXPECT_THROW((void)retry(patient, fail), error);
    EXPECT_EQ(runs, 1);
  }
}

TEST(Retry, TellsBeforeEachRetryWhichItIsAndWhy) {
  auto patient = three_tries;
  patient.through_outages = true;
  std::vector<retry_event> caught;
  const auto note = [&](const retry_event& event) { caught.push_back(event); };
  int runs = 0;
  const auto work = [&]() -> outcome<int> {
    ++runs;
    if (runs == 1) return refusal{.reason = refusal_reason::stale, .holder = "them"};
    if (runs == 2) return away();
    return 42;
  };
  EXPECT_EQ(*retry(patient, work, note), 42);
  ASSERT_EQ(caught.size(), 2);
  EXPECT_EQ(caught[0].attempt, 2);
  EXPECT_EQ(caught[0].pause, 1ms);
  EXPECT_EQ(caught[0].refused->holder, "them");
  EXPECT_EQ(caught[0].thrown, nullptr);
  EXPECT_EQ(caught[1].attempt, 3);
  EXPECT_FALSE(caught[1].refused);
  EXPECT_THROW(std::rethrow_exception(caught[1].thrown), error);
}

TEST(Retry, LetsALogLineBeWritten) {
  const retry_policy policy{
      .first_pause = 1ms, .longest_pause = 1ms, .give_up_after = 20s, .through_outages = true};
  std::ostringstream log;
  int runs = 0;
  const auto book = [&]() -> outcome<int> { return ++runs == 1 ? away() : outcome<int>{42}; };
  auto booked = retry(policy, book, [&](const retry_event& next) {
    log << "try " << next.attempt << " in " << next.pause / 1ms
        << " ms: " << (next.thrown ? "conflict or outage" : "stale") << '\n';
  });
  EXPECT_EQ(*booked, 42);
  EXPECT_EQ(log.str(), "try 2 in 1 ms: conflict or outage\n");
}

TEST(Retry, TellsOfNoRetryThatIsNotMade) {
  int caught = 0;
  const auto note = [&](const retry_event&) { ++caught; };
  EXPECT_EQ(retry(
                three_tries, [] { return commit_result::stale; }, note),
            commit_result::stale);
  EXPECT_EQ(caught, 2);
  EXPECT_THROW((void)retry(three_tries, away, note), error);
  EXPECT_EQ(caught, 2);
}

TEST(Retry, EndsWithWhatItsListenerThrows) {
  const auto note = [](const retry_event&) { throw std::runtime_error{"no log"}; };
  EXPECT_THROW((void)retry(
                   three_tries, [] { return commit_result::stale; }, note),
               std::runtime_error);
}

}  // namespace
}  // namespace rowlock::tests
