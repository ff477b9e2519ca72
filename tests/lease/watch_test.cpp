// Watches on keys.
#include "rowlock/watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lease/lease_state_test.hpp"
#include "rowlock/operators.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class KeyWatch : public lease_state_test {
 protected:
  key_watch watch() { return locks_->watch(key_, recording()); }
  watch_callback recording() {
    return [this](const watched_key& seen) {
      EXPECT_EQ(seen.key, key_);
      const std::scoped_lock lock{mutex_};
      seen_.push_back(words_for(seen));
    };
  }
  static std::string words_for(const watched_key& seen) {
    if (seen.fault.find("no route to it") != std::string::npos) return "away";
    if (!seen.row) return "missing";
    if (!seen.row->owned) return "free";
    const std::string asked = seen.row->asked ? ", asked for" : "";
    return (seen.row->is_live() ? "held by " : "left by ") + seen.row->holder + asked;
  }
  [[nodiscard]] std::vector<std::string> seen() {
    const std::scoped_lock lock{mutex_};
    return seen_;
  }
  /// The first read needs no clock.
  void await_first() {
    await_that([&] { return !seen().empty(); });
  }
  /// Moves the clock until this is the last state that was seen.
  void await_last(const std::string& expected) {
    await_that([&] { return !seen().empty() && seen().back() == expected; },
               [&] { time_->advance(20ms); });
  }

  const lock_key key_{"job", "a"};
  lock_table theirs_{rows_, {.ttl = 30s, .margin = 1s, .holder = "theirs", .time = time_}};

 private:
  std::mutex mutex_;
  std::vector<std::string> seen_;
};

TEST_F(KeyWatch, SeesThePresentStateAndEachNewOne) {
  const auto watching = watch();
  await_last("missing");
  auto held = theirs_.try_acquire(key_);
  await_last("held by theirs");
  EXPECT_EQ(ask(rows_, key_, "deploy"), ask_result::asked);
  await_last("held by theirs, asked for");
  held->release();
  await_last("free");
  EXPECT_EQ(seen(), (std::vector<std::string>{"missing", "held by theirs",
                                              "held by theirs, asked for", "free"}));
}

TEST_F(KeyWatch, IsToldOfALeaseThatRunsOutAndOfNoRenewal) {
  const auto watching = watch();
  auto held = theirs_.try_acquire(key_);
  await_last("held by theirs");
  rows_.await_one_more(*time_, "renew", 500ms);
  rows_.await_one_more(*time_, "watch", 100ms);
  EXPECT_EQ(seen().back(), "held by theirs");
  const auto before = seen().size();
  rows_.before("renew", [] { throw error{errc::unavailable, "away"}; });
  await_that([&] { return seen().back() == "left by theirs"; }, [&] { time_->advance(500ms); });
  EXPECT_EQ(seen().size(), before + 1);
}

TEST_F(KeyWatch, NeedsNoClockWhereReleasesAreAnnounced) {
  rows_.let_listen();
  auto held = theirs_.try_acquire(key_);
  const auto watching = watch();
  await_first();
  rows_.await_answers("watch", 1);
  time_->advance(50ms);  // reads keep this distance, whatever is announced
  held->release();
  await_that([&] { return seen().back() == "free"; });
}

TEST_F(KeyWatch, ReadsAtMostTwentyTimesASecond) {
  rows_.let_listen();
  const auto watching = watch();
  await_first();
  rows_.await_answers("watch", 1);
  for (int i = 0; i < 1000; ++i) {
    rows_.listener().released(key_);
    time_->advance(100us);
  }
  EXPECT_LE(rows_.batches("watch").size(), 3U) << "in a tenth of a second";
  rows_.await_one_more(*time_, "watch");
}

TEST_F(KeyWatch, SaysThatTheDatabaseIsAwayAndThenWhatIsThere) {
  const auto watching = watch();
  await_last("missing");
  rows_.before("watch", [] { throw error{errc::unavailable, "no route to it"}; });
  await_last("away");
  rows_.await_moving(*time_, "watch", rows_.batches("watch").size() + 1, 100ms);
  rows_.before("watch", [] {});
  await_last("missing");
  EXPECT_EQ(seen(), (std::vector<std::string>{"missing", "away", "missing"}));
}

TEST_F(KeyWatch, ThatIsSlowMissesStatesButNotTheLast) {
  std::atomic<bool> has_begun = false;
  gate goes_on;
  const auto watching = locks_->watch(key_, [&, record = recording()](const watched_key& now) {
    if (!has_begun.exchange(true)) goes_on.pass();
    record(now);
  });
  await_that([&] { return has_begun.load(); });
  auto held = theirs_.try_acquire(key_);
  rows_.await_one_more(*time_, "watch", 100ms);
  held->release();
  rows_.await_one_more(*time_, "watch", 100ms);
  goes_on.open();
  await_last("free");
  EXPECT_EQ(seen(), (std::vector<std::string>{"missing", "free"}));
}

TEST_F(KeyWatch, ThatEndedIsNotTold) {
  auto ended = std::optional{watch()};
  await_last("missing");
  ended.reset();
  auto other = locks_->watch({"job", "b"}, [](const watched_key&) {});
  auto held = theirs_.try_acquire(key_);
  rows_.await_one_more(*time_, "watch", 100ms);
  EXPECT_EQ(seen(), (std::vector<std::string>{"missing"}));
}

TEST_F(KeyWatch, MayEndItselfInItsCall) {
  std::optional<key_watch> watching;
  gate set;
  gate was_told;
  watching = locks_->watch(key_, [&](const watched_key&) {
    set.pass();
    watching.reset();
    was_told.open();
  });
  set.open();
  was_told.pass();
}

TEST_F(KeyWatch, MayOutliveItsTable) {
  const auto watching = watch();
  await_last("missing");
  locks_.reset();
  theirs_.try_acquire(key_)->release();
  EXPECT_EQ(seen(), (std::vector<std::string>{"missing"}));
}

TEST_F(KeyWatch, OfSeveralKeysIsOneRead) {
  const auto one = watch();
  const auto same = watch();
  const auto other = locks_->watch({"job", "b"}, [](const watched_key&) {});
  await_last("missing");
  rows_.await_one_more(*time_, "watch", 100ms);
  EXPECT_EQ(rows_.batches("watch").back(), 3U);
}

TEST_F(KeyWatch, WithoutAKeyOrACallbackIsMisuse) {
  EXPECT_TRUE(is_misuse([&] { (void)locks_->watch({"", "a"}, recording()); }));
  EXPECT_TRUE(is_misuse([&] { (void)locks_->watch(key_, nullptr); }));
}

}  // namespace
}  // namespace rowlock::tests
