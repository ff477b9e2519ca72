// Keys are their bytes: nothing folds, trims, interprets or loses any.
#include <set>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"

namespace rowlock::tests {
namespace {

/// Ids that some database, collation, array syntax or format takes for each other or for syntax.
std::vector<lock_key> treacherous_keys() {
  const std::vector<std::string> ids{
      // Case, blanks, accents composed and decomposed, ligatures, width, digits, lookalikes.
      "a", "A", "a ", " a", "a  ", "\ta", "a\n", "a\r\n", "ä", "a\u0308", "Ä", "ss", "ß", "ẞ", "ﬁ",
      "fi", "ａ", "i", "I", "ı", "İ", "1", "01", "1.0", "+1", "1e0", "٣", "а", "k", "K",
      // Syntax of SQL, arrays, composite values, patterns, formats, JSON, paths.
      "'", "''", "\"", "\"\"", "\\", "\\\\", "\\'", "'; drop table shared_lock; --", "/*", "--",
      "$1", "?", ":a", "@a", "%", "_", "%s", "*", "{}", "{", "}", "{a}", "(a)", "a,b", "a,b,", ",",
      ",,", "NULL", "null", "\"NULL\"", ",NULL", "\",NULL", "{NULL}", "nan", "true", "[]",
      "[\"a\"]", "a/b", "a//b", "..", "E'a'", "\\x61", "\\N", "\\0", "\\u0061", "%61", "&amp;",
      "epoch",
      // Whatever a terminal or an encoding does with them.
      "\x01", "\x1b[0m", "\x7f", "\u0080", "\u00a0", "\u200b", "\u2028", "\ufeff", "\ufffd",
      "\uffff", "😀", "👩‍👩‍👧‍👦", "日本語", "עברית", "\U0010ffff",
      // As long as it may be, differing in the last byte alone.
      std::string(255, 'x'), std::string(254, 'x') + 'y', std::string(254, 'x')};
  std::vector<lock_key> keys;
  for (const auto& id : ids) keys.push_back({"job", id});
  // The border between the parts, and the types.
  for (const auto* type :
       {"Job", "JOB", "job.", "job-", "job:", "j", "a:b", "0", "_", "-", ".", "eu/job", "EU/job",
        "eu/Job", "job/eu", "job#1", "job#01", "job#2", "eu/job#1"}) {
    keys.push_back({type, "a"});
  }
  keys.push_back({"job:a", "b"});
  keys.push_back({"job", "a:b"});
  keys.push_back({std::string(64, 't'), "a"});
  keys.push_back({std::string(63, 't') + 'T', "a"});
  return keys;
}

std::vector<acquire_request> requests_for(const std::vector<lock_key>& keys) {
  std::vector<acquire_request> requests;
  for (const auto& key : keys) {
    requests.push_back({.key = key, .owner = make_owner_id(), .holder = "host:1", .ttl = 1h});
  }
  return requests;
}

class Key : public store_test {
 protected:
  const std::vector<lock_key> keys_ = treacherous_keys();
};

TEST_P(Key, OfOtherBytesIsAnotherKeyInOneCall) {
  const auto requests = requests_for(keys_);
  const auto answers = rows_->acquire(requests);
  const auto states = rows_->read(keys_);
  std::vector<release_request> releases;
  for (std::size_t at = 0; at < keys_.size(); ++at) {
    ASSERT_EQ(answers.at(at).status, acquire_status::granted) << keys_[at];
    ASSERT_TRUE(states.at(at)) << keys_[at];
    EXPECT_EQ(states[at]->key, keys_[at]);
    EXPECT_EQ(states[at]->version, answers[at].version) << keys_[at];
    releases.push_back({keys_[at], requests[at].owner, *answers[at].version});
  }
  EXPECT_EQ(rows_->release(releases), std::vector(keys_.size(), change_answer::done));
  const auto again = rows_->acquire(requests_for(keys_));
  const auto states_again = rows_->read(keys_);
  for (std::size_t at = 0; at < keys_.size(); ++at) {
    ASSERT_EQ(again.at(at).status, acquire_status::granted) << keys_[at];
    EXPECT_EQ(states_again.at(at).value().version, again[at].version) << keys_[at];
  }
}

TEST_P(Key, OfOtherBytesIsAnotherKeyInCallsOfOneKey) {
  for (const auto& request : requests_for(keys_)) {
    const auto answer = rows_->acquire(std::array{request}).at(0);
    ASSERT_EQ(answer.status, acquire_status::granted) << request.key;
    EXPECT_EQ(acquire(request.key, mine_).status, acquire_status::held) << request.key;
    EXPECT_EQ(renew(request.key, request.owner, *answer.version), change_answer::done)
        << request.key;
    EXPECT_EQ(row(request.key).key, request.key);
  }
}

TEST_P(Key, ComesBackByteForByteInTheOrderOfBytes) {
  rows_->acquire(requests_for(keys_));
  const std::set<lock_key> in_order(keys_.begin(), keys_.end());
  ASSERT_EQ(in_order.size(), keys_.size());
  std::vector<lock_key> listed;
  for (const auto& state : rows_->list()) listed.push_back(state.key);
  EXPECT_EQ(listed, std::vector(in_order.begin(), in_order.end()));
}

TEST_P(Key, OfOtherBytesIsAnotherKeyForPrepare) {
  const auto states = rows_->read(keys_, read_mode::ready_to_commit);
  for (std::size_t at = 0; at < keys_.size(); ++at) {
    ASSERT_TRUE(states.at(at)) << keys_[at];
    EXPECT_EQ(states[at]->key, keys_[at]);
  }
}

TEST_P(Key, HolderLabelsComeBackByteForByteToo) {
  for (const auto& key : keys_) {
    const std::string label = key.source_id.substr(0, 128);
    if (label.size() != key.source_id.size()) continue;
    const acquire_request request{.key = key, .owner = mine_, .holder = label, .ttl = 1h};
    ASSERT_EQ(rows_->acquire(std::array{request}).at(0).status, acquire_status::granted);
    EXPECT_EQ(row(key).holder, label);
    EXPECT_EQ(acquire(key, theirs_).holder, label);
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, Key, testing::ValuesIn(every_store()), name_of);

class KeyInTransactions : public Key {};

TEST_P(KeyInTransactions, OfOtherBytesIsAnotherKeyForRowLocks) {
  open_transaction locking{*bench_};
  const auto locked = locking->lock_rows(keys_, no_wait());
  ASSERT_TRUE(locked.acquired());
  const std::set<lock_key> in_order(keys_.begin(), keys_.end());
  ASSERT_EQ(locked->rows.size(), in_order.size());
  locking.commit();
  std::size_t at = 0;
  for (const auto& key : in_order) {
    EXPECT_EQ(locked->rows[at].key, key);
    EXPECT_EQ(locked->rows[at].version, row(key).version) << key;
    ++at;
  }
}

TEST_P(KeyInTransactions, OfOtherBytesIsAnotherKeyForOptimisticCommits) {
  open_transaction committing{*bench_};
  for (const auto& key : keys_) {
    const auto seen = committing->read_version(key);
    ASSERT_TRUE(seen.acquired()) << key;
    EXPECT_EQ(committing->try_commit(key, *seen), commit_result::committed) << key;
  }
  committing.commit();
  for (const auto& key : keys_) EXPECT_EQ(row(key).key, key);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KeyInTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, KeyInTransactions, testing::ValuesIn(stores_with_transactions()),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
