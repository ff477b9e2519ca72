// Why a row that was read is not granted, or not changed: each cell of the port's table.
#include "store/refusal_of.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace rowlock::detail {
namespace {

using namespace std::chrono_literals;

const owner_id mine{"mine"};
constexpr version now{7};

acquire_request request(std::optional<version> expected = std::nullopt, bool unless_done = false) {
  return {.key = {"job", "a"},
          .owner = mine,
          .holder = "me",
          .ttl = 1s,
          .expected = expected,
          .unless_done = unless_done};
}

seen_row owned_by(const std::string& owner, std::chrono::microseconds left) {
  return {.state = {.key = {"job", "a"},
                    .version = now,
                    .owned = true,
                    .holder = "someone",
                    .remaining = left},
          .owner = owner,
          .left = left};
}
seen_row unowned() { return {.state = {.key = {"job", "a"}, .version = now}, .left = -1h}; }
seen_row closed() {
  return {.state = {.key = {"job", "a"}, .version = now, .holder = "last", .remaining = 5s},
          .left = 5s};
}
seen_row done(seen_row row) {
  row.state.done = done_mark{version{6}, "then", 1h};
  return row;
}

std::optional<acquire_status> status_of(const std::optional<seen_row>& seen,
                                        const acquire_request& wanted,
                                        std::chrono::microseconds skew = 0us) {
  const auto refused = refusal_of(seen, wanted, skew);
  return refused ? std::optional{refused->status} : std::nullopt;
}

TEST(RefusalOf, AMissingRowIsOfOneThatExpectsAVersionOnly) {
  EXPECT_EQ(status_of(std::nullopt, request()), std::nullopt);
  EXPECT_EQ(status_of(std::nullopt, request(now)), acquire_status::stale);
}

TEST(RefusalOf, AFreeRowIsOfAnotherVersionOnly) {
  EXPECT_EQ(status_of(unowned(), request()), std::nullopt);
  EXPECT_EQ(status_of(unowned(), request(now)), std::nullopt);
  EXPECT_EQ(status_of(unowned(), request(version{6})), acquire_status::stale);
}

TEST(RefusalOf, ALiveLeaseIsOfAllOthers) {
  EXPECT_EQ(status_of(owned_by("theirs", 3s), request()), acquire_status::held);
  EXPECT_EQ(status_of(owned_by("theirs", 3s), request(now)), acquire_status::held);
  EXPECT_EQ(status_of(owned_by("theirs", 3s), request(version{6})), acquire_status::stale);
  EXPECT_EQ(status_of(owned_by("mine", 3s), request()), std::nullopt);
  EXPECT_EQ(status_of(owned_by("mine", 3s), request(version{6})), std::nullopt);
}

TEST(RefusalOf, ALeaseThatRanOutIsOfThoseThatExpectAVersion) {
  for (const auto* owner : {"mine", "theirs"}) {
    EXPECT_EQ(status_of(owned_by(owner, -1s), request()), std::nullopt);
    EXPECT_EQ(status_of(owned_by(owner, -1s), request(now)), acquire_status::stale);
  }
}

TEST(RefusalOf, ARowThatStaysClosedIsAsHeld) {
  EXPECT_EQ(status_of(closed(), request()), acquire_status::held);
  EXPECT_EQ(refusal_of(closed(), request())->holder, "last");
}

TEST(RefusalOf, WorkThatIsDoneComesBeforeHeldAndIsNoMatterToOthers) {
  EXPECT_EQ(status_of(done(owned_by("theirs", 3s)), request({}, true)), acquire_status::done);
  EXPECT_EQ(status_of(done(unowned()), request({}, true)), acquire_status::done);
  EXPECT_EQ(status_of(done(unowned()), request()), std::nullopt);
  EXPECT_EQ(status_of(done(owned_by("mine", 3s)), request({}, true)), std::nullopt);
  EXPECT_EQ(status_of(done(unowned()), request(version{6}, true)), acquire_status::stale);
}

TEST(RefusalOf, TheSkewOfClocksKeepsALeaseThatHasJustRunOut) {
  EXPECT_EQ(status_of(owned_by("theirs", -1s), request(), 2s), acquire_status::held);
  EXPECT_EQ(refusal_of(owned_by("theirs", -1s), request(), 2s)->remaining, 1s);
  EXPECT_EQ(status_of(owned_by("theirs", -2s), request(), 2s), std::nullopt);
}

TEST(RefusalOf, AChangeIsBusyWhileTheRowIsAsItWasGranted) {
  const renew_request wanted{{"job", "a"}, mine, now, 1s};
  EXPECT_EQ(busy_or_lost(owned_by("mine", 3s), wanted), change_answer::busy);
  EXPECT_EQ(busy_or_lost(owned_by("mine", -3s), wanted), change_answer::busy);
  EXPECT_EQ(busy_or_lost(owned_by("theirs", 3s), wanted), change_answer::lost);
  EXPECT_EQ(busy_or_lost(std::nullopt, wanted), change_answer::lost);
  const renew_request older{{"job", "a"}, mine, version{6}, 1s};
  EXPECT_EQ(busy_or_lost(owned_by("mine", 3s), older), change_answer::lost);
}

}  // namespace
}  // namespace rowlock::detail
