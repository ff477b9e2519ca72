// Reading, preparing and listing, in each state of the row.
#include <vector>

#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

class Read : public store_test {};
class Prepare : public store_test {};
class List : public store_test {};

TEST_P(Read, OfAMissingRowIsNothing) { EXPECT_FALSE(read(key_)); }

TEST_P(Read, AnswersInTheOrderOfTheKeysEachAsOftenAsAsked) {
  granted(other_key_, mine_);
  unowned(key_);
  const lock_key missing{"invoice", "44"};
  const auto states = rows_->read(std::array{other_key_, missing, key_, other_key_});
  ASSERT_EQ(states.size(), 4U);
  EXPECT_EQ(states[0].value().key, other_key_);
  EXPECT_TRUE(states[0]->owned);
  EXPECT_FALSE(states[1]);
  EXPECT_EQ(states[2].value().key, key_);
  EXPECT_FALSE(states[2]->owned);
  EXPECT_EQ(states[3].value().key, other_key_);
}

TEST_P(Read, ShowsALeaseThatRanOutAsOwnedButNotLive) {
  run_out(key_, mine_);
  EXPECT_TRUE(row(key_).owned);
  EXPECT_FALSE(row(key_).is_live());
  EXPECT_LE(row(key_).remaining, 0s);
  EXPECT_EQ(row(key_).holder, "host:1");
}

TEST_P(Read, TellsTheTimeOfTheGrantInUtcToTheMicrosecond) {
  granted(key_, mine_);
  const auto since = row(key_).acquired_at;
  ASSERT_EQ(since.size(), std::string{"2026-01-31 12:00:00.000000"}.size()) << since;
  for (std::size_t at = 0; at < since.size(); ++at) {
    const char expected = "0000-00-00 00:00:00.000000"[at];
    const bool is_digit = since[at] >= '0' && since[at] <= '9';
    EXPECT_EQ(is_digit ? '0' : since[at], expected) << since;
  }
}

TEST_P(Prepare, CreatesAMissingRowUnowned) {
  const auto created = prepare(key_).value();
  EXPECT_EQ(created.key, key_);
  EXPECT_FALSE(created.owned);
  EXPECT_GT(created.version.number, 0);
  EXPECT_EQ(created.failure_count, 0);
  EXPECT_EQ(created.expiry_count, 0);
  EXPECT_EQ(described(row(key_)), described(created));
}

TEST_P(Prepare, LeavesAnUnownedRowAlone) {
  const auto created = prepare(key_).value();
  EXPECT_EQ(described(prepare(key_).value()), described(created));
}

TEST_P(Prepare, LeavesALiveLeaseAlone) {
  const auto my_version = granted(key_, mine_);
  const auto before = described(row(key_));
  EXPECT_EQ(described(prepare(key_).value()), before);
  EXPECT_EQ(described(row(key_)), before);
  EXPECT_EQ(renew(key_, mine_, my_version), change_answer::done);
}

TEST_P(Prepare, UnsetsALeaseThatRanOutMovesItsVersionAndCountsIt) {
  const auto before = run_out(key_, theirs_);
  const auto after = prepare(key_).value();
  EXPECT_FALSE(after.owned);
  EXPECT_GT(after.version, before);
  EXPECT_EQ(after.expiry_count, 1);
  EXPECT_EQ(after.holder, "");
  EXPECT_EQ(after.acquired_at, "");
  EXPECT_EQ(described(row(key_)), described(after));
}

TEST_P(Prepare, EndsALeaseThatRanOutForItsHolder) {
  const auto my_version = run_out(key_, mine_);
  prepare(key_);
  EXPECT_EQ(renew(key_, mine_, my_version), change_answer::lost);
  EXPECT_EQ(release(key_, mine_, my_version), change_answer::lost);
}

TEST_P(Prepare, AnswersForSeveralKeysInTheirOrder) {
  const lock_key missing{"invoice", "44"};
  const lock_key free{"invoice", "41"};
  granted(key_, mine_, 2h);
  unowned(free);
  run_out(other_key_, theirs_);
  const auto states =
      rows_->read(std::array{missing, other_key_, key_, free, missing}, read_mode::ready_to_commit);
  ASSERT_EQ(states.size(), 5U);
  const std::vector keys{missing, other_key_, key_, free, missing};
  for (std::size_t at = 0; at < keys.size(); ++at) {
    EXPECT_EQ(states[at].value().key, keys[at]);
    EXPECT_EQ(states[at]->owned, keys[at] == key_);
    EXPECT_EQ(described(*states[at]), described(row(keys[at])));
  }
}

TEST_P(List, ShowsTheOwnedRowsByKey) {
  granted({"order", "1"}, mine_, 3h);
  granted({"invoice", "b"}, mine_, 3h);
  granted({"invoice", "B"}, mine_, 3h);
  unowned({"invoice", "c"});
  granted({"invoice", "a"}, theirs_, 1h);
  bench_->run_out({"invoice", "a"});
  const auto listed = rows_->list();
  ASSERT_EQ(listed.size(), 4U);
  EXPECT_EQ(listed[0].key, (lock_key{"invoice", "B"}));
  EXPECT_EQ(listed[1].key, (lock_key{"invoice", "a"}));
  EXPECT_EQ(listed[2].key, (lock_key{"invoice", "b"}));
  EXPECT_EQ(listed[3].key, (lock_key{"order", "1"}));
  EXPECT_FALSE(listed[1].is_live());
  EXPECT_TRUE(listed[2].is_live());
  for (const auto& each : listed) EXPECT_EQ(described(each), described(row(each.key)));
}

TEST_P(List, OfAnEmptyTableIsEmpty) { EXPECT_TRUE(rows_->list().empty()); }

INSTANTIATE_TEST_SUITE_P(Stores, Read, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Stores, Prepare, testing::ValuesIn(alone_and_beside_others(every_store())),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Stores, List, testing::ValuesIn(every_store()), name_of);

}  // namespace
}  // namespace rowlock::tests
