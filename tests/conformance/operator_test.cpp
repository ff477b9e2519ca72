// What a person on call does with the table: notes, release by force, purge.
#include <functional>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

bool is_misuse(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& thrown) {
    return thrown.kind() == errc::misuse;
  }
  return false;
}

class Note : public store_test {
 protected:
  change_answer write(const std::string& note, version at) {
    return rows_->write_note({.key = key_, .owner = mine_, .version = at, .note = note});
  }
};

TEST_P(Note, IsReadByEverybodyAndStays) {
  const auto held = granted(key_, mine_);
  EXPECT_EQ(row(key_).note, "");
  const std::string note = "step 1 of 3: 'quoted', \"ä\" % \\ \n 日本";
  EXPECT_EQ(write(note, held), change_answer::done);
  EXPECT_EQ(row(key_).note, note);
  EXPECT_EQ(row(key_).version, held);
  ASSERT_EQ(release(key_, mine_, held), change_answer::done);
  EXPECT_EQ(row(key_).note, note);
  granted(key_, theirs_);
  EXPECT_EQ(row(key_).note, note);
  EXPECT_EQ(rows_->list().at(0).note, note);
}

TEST_P(Note, IsReplacedByTheNextAndTakenAwayByAnEmptyOne) {
  const auto held = granted(key_, mine_);
  for (const std::string note : {"first", "second", ""}) {
    EXPECT_EQ(write(note, held), change_answer::done);
    EXPECT_EQ(row(key_).note, note);
  }
}

TEST_P(Note, HasAThousandAndTwentyFourBytesAtMost) {
  const auto held = granted(key_, mine_);
  const std::string longest(1024, 'n');
  EXPECT_EQ(write(longest, held), change_answer::done);
  EXPECT_EQ(row(key_).note, longest);
  EXPECT_TRUE(is_misuse([&] { write(longest + 'n', held); }));
  EXPECT_TRUE(is_misuse([&] { write(std::string{"a\0b", 3}, held); }));
  EXPECT_TRUE(is_misuse([&] { write("\xff", held); }));
  EXPECT_EQ(row(key_).note, longest);
}

TEST_P(Note, IsWrittenByTheHolderOnly) {
  EXPECT_EQ(write("without an owner", version{1}), change_answer::lost);
  const auto mine = run_out(key_, mine_);
  EXPECT_EQ(write("late, but not taken over", mine), change_answer::done);
  granted(key_, theirs_);
  EXPECT_EQ(write("too late", mine), change_answer::lost);
  EXPECT_EQ(row(key_).note, "late, but not taken over");
}

INSTANTIATE_TEST_SUITE_P(Stores, Note, testing::ValuesIn(every_store()), name_of);

class ForceRelease : public store_test {
 protected:
  force_answer take(version at, const std::string& reason = "the host is gone (ann)") {
    return rows_->force_release({.key = key_, .version = at, .reason = reason});
  }
};

TEST_P(ForceRelease, TakesTheKeyAndSaysWhy) {
  const auto held = granted(key_, theirs_);
  EXPECT_EQ(take(held), force_answer::released);
  const auto after = row(key_);
  EXPECT_FALSE(after.owned);
  EXPECT_FALSE(after.is_live());
  EXPECT_GT(after.version, held);
  EXPECT_EQ(after.force_reason, "the host is gone (ann)");
  EXPECT_EQ(after.expiry_count, 0);
  EXPECT_EQ(acquire(key_, mine_).status, acquire_status::granted);
  EXPECT_EQ(row(key_).force_reason, "the host is gone (ann)");
}

TEST_P(ForceRelease, LeavesTheHolderNothingToRenewOrRelease) {
  const auto held = granted(key_, mine_);
  ASSERT_EQ(take(held), force_answer::released);
  const auto after = described(row(key_));
  EXPECT_EQ(renew(key_, mine_, held), change_answer::lost);
  EXPECT_EQ(release(key_, mine_, held), change_answer::lost);
  EXPECT_EQ(described(row(key_)), after);
}

TEST_P(ForceRelease, OfAnotherVersionIsStale) {
  const auto held = granted(key_, theirs_);
  const auto before = described(row(key_));
  EXPECT_EQ(take(version{held.number - 1}), force_answer::stale);
  EXPECT_EQ(take(version{held.number + 1}), force_answer::stale);
  EXPECT_EQ(described(row(key_)), before);
}

TEST_P(ForceRelease, OfWhatNobodyHasIsStale) {
  EXPECT_EQ(take(version{1}), force_answer::stale);
  EXPECT_FALSE(read(key_));
  const auto current = unowned(key_);
  EXPECT_EQ(take(current), force_answer::stale);
  EXPECT_EQ(row(key_).version, current);
}

TEST_P(ForceRelease, TakesALeaseThatHasRunOut) {
  EXPECT_EQ(take(run_out(key_, theirs_)), force_answer::released);
  EXPECT_FALSE(row(key_).owned);
}

TEST_P(ForceRelease, OpensARowThatStaysClosed) {
  const release_request closing{
      .key = key_, .owner = mine_, .version = granted(key_, mine_), .stay_closed = 1h};
  ASSERT_EQ(rows_->release(std::array{closing}).at(0), change_answer::done);
  EXPECT_EQ(take(row(key_).version), force_answer::released);
  EXPECT_EQ(acquire(key_, theirs_).status, acquire_status::granted);
}

TEST_P(ForceRelease, NeedsAReason) {
  const auto held = granted(key_, theirs_);
  EXPECT_TRUE(is_misuse([&] { take(held, ""); }));
  EXPECT_TRUE(is_misuse([&] { take(held, std::string(1025, 'r')); }));
  EXPECT_EQ(take(held, std::string(1024, 'r')), force_answer::released);
}

INSTANTIATE_TEST_SUITE_P(Stores, ForceRelease, testing::ValuesIn(every_store()), name_of);

class Purge : public store_test {
 protected:
  /// A row that no call has changed for long.
  void leave_idle(const lock_key& key) {
    touch(key);
    bench_->leave_behind_the_clock(key);
  }

  std::size_t purge_all(std::size_t at_most = 100) {
    std::size_t purged = 0;
    purge_request request{.older_than = 1h, .limit = at_most};
    await_that([&] {
      const auto answer = rows_->purge(request);
      purged += answer.purged;
      request.after = answer.last;
      return !request.after;
    });
    return purged;
  }
};

TEST_P(Purge, DeletesIdleRows) {
  leave_idle(key_);
  leave_idle(other_key_);
  const lock_key young{"young", "1"};
  touch(young);
  EXPECT_EQ(purge_all(), 2U);
  EXPECT_FALSE(read(key_));
  EXPECT_FALSE(read(other_key_));
  EXPECT_TRUE(read(young));
  EXPECT_EQ(purge_all(), 0U);
}

TEST_P(Purge, GoesThroughAllKeysInBatches) {
  std::vector<lock_key> keys;
  for (int i = 0; i < 7; ++i) keys.push_back({i % 2 == 0 ? "job" : "Job", std::to_string(i)});
  for (const auto& key : keys) touch(key);
  for (const auto& key : keys) bench_->leave_behind_the_clock(key);
  const auto first = rows_->purge({.older_than = 1h, .limit = 3});
  EXPECT_EQ(first.purged, 3U);
  EXPECT_EQ(first.last, (lock_key{"Job", "5"}));
  EXPECT_EQ(purge_all(3), 4U);
  for (const auto& key : keys) EXPECT_FALSE(read(key));
}

TEST_P(Purge, GivesAKeyThatComesBackAGreaterVersion) {
  const auto before = granted(key_, mine_);
  ASSERT_EQ(release(key_, mine_, before), change_answer::done);
  bench_->leave_behind_the_clock(key_);
  const auto last = row(key_).version;
  ASSERT_EQ(purge_all(), 1U);
  EXPECT_EQ(release(key_, mine_, before), change_answer::lost);
  EXPECT_GT(granted(key_, theirs_), last);
}

TEST_P(Purge, LeavesWhatIsOwnedClosedOrDone) {
  const lock_key done{"done", "1"};
  granted(key_, mine_, 24h);
  const release_request closing{
      .key = other_key_, .owner = mine_, .version = granted(other_key_, mine_), .stay_closed = 24h};
  ASSERT_EQ(rows_->release(std::array{closing}).at(0), change_answer::done);
  const release_request remembering{
      .key = done, .owner = mine_, .version = granted(done, mine_), .done_for = 24h};
  ASSERT_EQ(rows_->release(std::array{remembering}).at(0), change_answer::done);
  for (const auto& key : {key_, other_key_, done}) bench_->leave_behind_the_clock(key);
  EXPECT_EQ(purge_all(), 0U);
}

TEST_P(Purge, LeavesALeaseThatHasRunOut) {
  run_out(key_, mine_);
  bench_->leave_behind_the_clock(key_);
  EXPECT_EQ(purge_all(), 0U);
  EXPECT_TRUE(row(key_).owned);
}

TEST_P(Purge, LeavesTheRecordOfHowManyRowsOfANameThereAreWhileOneOfThemIsLeft) {
  const lock_key record{"eu-1/printer#0", "a"};
  for (const auto* taken : {"eu-1/printer#1", "eu-1/printer#3", "eu-1/printer#1000"}) {
    leave_idle(record);
    granted({taken, "a"}, mine_, 24h);
    EXPECT_EQ(purge_all(), 0U) << taken;
    EXPECT_TRUE(read(record)) << taken;
    ASSERT_EQ(rows_->force_release(
                  {.key = {taken, "a"}, .version = row({taken, "a"}).version, .reason = "a test"}),
              force_answer::released);
    bench_->leave_behind_the_clock({taken, "a"});
    EXPECT_EQ(purge_all(), 1U) << taken;
    EXPECT_TRUE(read(record)) << "it was needed at the beginning of the purge";
  }
  EXPECT_EQ(purge_all(), 1U);
  EXPECT_FALSE(read(record));
}

// Another id, another scope, another type, and what only looks like a record.
TEST_P(Purge, LeavesNoRecordForTheSakeOfOtherNames) {
  leave_idle({"printer#0", "a"});
  leave_idle({"printer#10", "a"});
  for (const lock_key& other : {lock_key{"printer#1", "b"}, lock_key{"eu-1/printer#1", "a"},
                                lock_key{"printers#1", "a"}, lock_key{"printer", "a"}}) {
    granted(other, mine_, 24h);
  }
  EXPECT_EQ(purge_all(), 1U);
  EXPECT_FALSE(read({"printer#10", "a"}));
  EXPECT_EQ(purge_all(), 1U);
  EXPECT_FALSE(read({"printer#0", "a"}));
}

TEST_P(Purge, OfWhatIsYoungerThanAnHourIsMisuse) {
  EXPECT_TRUE(is_misuse([&] { rows_->purge({.older_than = 1h - 1us, .limit = 10}); }));
  EXPECT_TRUE(is_misuse([&] { rows_->purge({.older_than = 1h, .limit = 0}); }));
  EXPECT_TRUE(is_misuse([&] { rows_->purge({.older_than = 1h, .limit = 10'001}); }));
}

INSTANTIATE_TEST_SUITE_P(Stores, Purge, testing::ValuesIn(every_store()), name_of);

class OperatorAmongOthers : public Purge {};

TEST_P(OperatorAmongOthers, PurgeSkipsWhatATransactionHas) {
  leave_idle(key_);
  leave_idle(other_key_);
  {
    const locked_rows locked{*bench_, other_key_};
    EXPECT_EQ(purge_all(), 1U);
  }
  EXPECT_TRUE(read(other_key_));
}

TEST_P(OperatorAmongOthers, ForceReleaseNoteAndRequestOfARowThatATransactionHasAreBusy) {
  const auto held = granted(key_, mine_);
  const auto stranger = bench_->lock_as_a_stranger(key_);
  EXPECT_EQ(rows_->force_release({.key = key_, .version = held, .reason = "a test"}),
            force_answer::busy);
  EXPECT_EQ(rows_->write_note({.key = key_, .owner = mine_, .version = held, .note = "n"}),
            change_answer::busy);
  EXPECT_EQ(rows_->ask({.key = key_, .version = held, .by = "ops", .reason = "a test"}),
            change_answer::busy);
  EXPECT_EQ(row(key_).version, held);
}

std::vector<bench_kind> stores_with_both() {
  auto kinds = stores_with_foreign_transactions();
  std::erase_if(kinds, [](const bench_kind& kind) { return !kind.has_transactions_side_by_side; });
  return kinds;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OperatorAmongOthers);
INSTANTIATE_TEST_SUITE_P(Stores, OperatorAmongOthers, testing::ValuesIn(stores_with_both()),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
