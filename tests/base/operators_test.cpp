// Operators' calls: show, force_release and purge.
#include "rowlock/operators.hpp"

#include <unistd.h>

#include <functional>
#include <string>

#include "lease/lease_state_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock::tests {
namespace {

class Operators : public lease_state_test {
 protected:
  static bool is_misuse(const std::function<void()>& call) {
    try {
      call();
    } catch (const error& thrown) {
      return thrown.kind() == errc::misuse;
    }
    return false;
  }
  force_result take(version at, const std::string& reason = "its host is gone",
                    const std::string& by = {}) {
    return force_release(rows_, key_, at, reason, by);
  }

  const lock_key key_{"job", "a"};
};

TEST_F(Operators, ShowARow) {
  EXPECT_FALSE(show(rows_, key_));
  const auto held = acquire("a");
  EXPECT_EQ(show(rows_, key_)->version, held.token());
  EXPECT_TRUE(is_misuse([this] { (void)show(rows_, {"", "a"}); }));
}

TEST_F(Operators, TakeAKeyAwayAndLeaveWhyAndWho) {
  auto held = acquire("a");
  const auto taken = take(held.token());
  EXPECT_EQ(taken.answer, force_answer::released);
  EXPECT_FALSE(taken.now->owned);
  EXPECT_GT(taken.now->version, held.token());
  EXPECT_TRUE(taken.now->force_reason.starts_with("its host is gone (by "));
  EXPECT_TRUE(taken.now->force_reason.ends_with(":" + std::to_string(getpid()) + ")"));
  EXPECT_EQ(held.release(), release_result::lost);
  const auto again = acquire("a");
  EXPECT_EQ(take(again.token(), "again", "ann").now->force_reason, "again (by ann)");
}

TEST_F(Operators, AreShownTheNewHolderWhenTheVersionHasMoved) {
  const auto before = acquire("a").token();
  lock_table theirs{rows_, {.ttl = 1h, .holder = "theirs", .time = time_}};
  const auto held = theirs.try_acquire(key_);
  const auto refused = take(before);
  EXPECT_EQ(refused.answer, force_answer::stale);
  EXPECT_EQ(refused.now->holder, "theirs");
  EXPECT_EQ(refused.now->version, held->token());
  EXPECT_TRUE(held->is_valid());
  EXPECT_FALSE(force_release(rows_, {"job", "none"}, before, "why", "").now);
}

TEST_F(Operators, AskAgainForAMomentWhenATransactionHasTheRow) {
  const auto held = acquire("a");
  std::optional<memory_transaction> fenced{rows_.rows()};
  fence(*fenced, held);
  const auto refused = take(held.token());
  EXPECT_EQ(refused.answer, force_answer::busy);
  EXPECT_EQ(refused.now->version, held.token());
  const auto attempts = rows_.batches("force_release").size();
  rows_.before("force_release", [&] {
    if (rows_.batches("force_release").size() == attempts + 3) fenced.reset();
  });
  EXPECT_EQ(take(held.token()).answer, force_answer::released);
}

TEST_F(Operators, GiveAReason) {
  const auto held = acquire("a");
  EXPECT_TRUE(is_misuse([&] { take(held.token(), ""); }));
  EXPECT_TRUE(is_misuse([&] { take(held.token(), std::string(1020, 'r')); }));
  EXPECT_TRUE(is_misuse([&] { take(held.token(), "why", std::string{"a\0b", 3}); }));
  EXPECT_FALSE(is_free("a"));
}

TEST_F(Operators, PurgeIdleRowsBatchByBatchUntilTheyAreStopped) {
  for (int number = 0; number < 7; ++number) acquire(std::to_string(number)).release();
  EXPECT_EQ(purge(rows_, 1h).purged, 0U) << "too young";
  time_->advance(1h + 1s);
  const auto held = acquire("held");
  std::stop_source stop;
  rows_.before("purge", [&] { stop.request_stop(); });
  const auto stopped = purge(rows_, 1h, 3, stop.get_token());
  EXPECT_EQ(stopped.purged, 3U);
  EXPECT_FALSE(stopped.is_complete);
  const auto rest = purge(rows_, 1h, 3);
  EXPECT_EQ(rest.purged, 4U);
  EXPECT_TRUE(rest.is_complete);
  EXPECT_TRUE(held.is_valid());
}

/// A database that deletes no row.
class refusing_store final : public passing_store {
 public:
  using passing_store::passing_store;

 protected:
  purge_answer do_purge(const purge_request& request) override {
    purge_answer answer;
    while (answer.refused.size() < request.limit && ++seen_ <= 12) {
      answer.refused.push_back({"job", std::to_string(seen_)});
    }
    if (seen_ <= 12) answer.last = answer.refused.back();
    return answer;
  }

 private:
  int seen_ = 0;
};

TEST_F(Operators, PurgeCountsWhatTheDatabaseRefusesToDeleteAndNamesTheFirstTen) {
  refusing_store rows{rows_};
  const auto result = purge(rows, 1h, 5);
  EXPECT_TRUE(result.is_complete);
  EXPECT_EQ(result.purged, 0U);
  EXPECT_EQ(result.refused, 12U);
  ASSERT_EQ(result.refused_keys.size(), 10U);
  EXPECT_EQ(result.refused_keys.back(), (lock_key{"job", "10"}));
}

TEST_F(Operators, PurgeNothingThatIsYoungerThanAnHour) {
  EXPECT_TRUE(is_misuse([this] { purge(rows_, 1h - 1us); }));
  EXPECT_TRUE(is_misuse([this] { purge(rows_, 1h, 0); }));
  EXPECT_TRUE(rows_.batches("purge").empty());
}

}  // namespace
}  // namespace rowlock::tests
