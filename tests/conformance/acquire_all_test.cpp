// Sets of keys: all or none of them.
#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class AcquireAll : public store_test {
 protected:
  static std::vector<acquire_request> requests_for(const std::vector<lock_key>& keys,
                                                   const owner_id& owner) {
    std::vector<acquire_request> requests;
    for (const auto& key : keys) {
      requests.push_back({.key = key, .owner = owner, .holder = "host:1", .ttl = 1h});
    }
    return requests;
  }

  std::vector<acquire_answer> acquire_all(const std::vector<lock_key>& keys,
                                          const owner_id& owner) {
    return rows_->acquire(requests_for(keys, owner), {acquire_mode::all_or_none});
  }

  /// All of them, which must be granted.
  std::vector<version> all_granted(const std::vector<lock_key>& keys, const owner_id& owner) {
    std::vector<version> versions;
    for (const auto& answer : acquire_all(keys, owner)) {
      EXPECT_EQ(answer.status, acquire_status::granted);
      versions.push_back(answer.version.value());
    }
    return versions;
  }

  /// Again and again: a transaction of another client may have some of the rows for a moment.
  void release_all(std::vector<release_request> requests) {
    EXPECT_TRUE(comes([&] {
      std::vector<release_request> busy;
      const auto answers = rows_->release(requests);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i] == change_answer::busy) {
          busy.push_back(requests[i]);
        } else {
          EXPECT_EQ(answers[i], change_answer::done) << requests[i].key;
        }
      }
      requests = busy;
      return requests.empty();
    }));
  }

  const lock_key third_key_{.type = "Invoice", .source_id = "z"};
  const std::vector<lock_key> keys_{key_, other_key_, third_key_};
};

TEST_P(AcquireAll, GrantsAllThatAreFree) {
  for (const auto& key : keys_) touch(key);
  const auto versions = all_granted(keys_, mine_);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    EXPECT_TRUE(row(keys_[i]).is_live());
    EXPECT_EQ(row(keys_[i]).version, versions[i]);
    EXPECT_EQ(renew(keys_[i], mine_, versions[i]), change_answer::done);
  }
}

TEST_P(AcquireAll, CreatesWhatIsMissing) {
  touch(other_key_);
  const auto versions = all_granted(keys_, mine_);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    EXPECT_EQ(release(keys_[i], mine_, versions[i]), change_answer::done);
  }
}

TEST_P(AcquireAll, GrantsNoneIfOneIsHeld) {
  for (const auto& key : keys_) touch(key);
  granted(other_key_, theirs_);
  std::vector<std::string> before;
  for (const auto& key : keys_) before.push_back(described(row(key)));
  const auto answers = acquire_all(keys_, mine_);
  EXPECT_EQ(answers[0].status, acquire_status::withheld);
  EXPECT_EQ(answers[1].status, acquire_status::held);
  EXPECT_EQ(answers[1].holder, "host:1");
  EXPECT_GT(answers[1].remaining.value(), 59min);
  EXPECT_EQ(answers[2].status, acquire_status::withheld);
  for (std::size_t i = 0; i < keys_.size(); ++i) EXPECT_EQ(described(row(keys_[i])), before[i]);
}

TEST_P(AcquireAll, GrantsNoneIfOneIsHeldAndOthersAreMissing) {
  granted(other_key_, theirs_);
  const auto answers = acquire_all(keys_, mine_);
  EXPECT_EQ(answers[0].status, acquire_status::withheld);
  EXPECT_EQ(answers[1].status, acquire_status::held);
  for (const auto& key : {key_, third_key_}) {
    const auto state = read(key);
    EXPECT_TRUE(!state || !state->owned);
  }
}

TEST_P(AcquireAll, TakesOverWhatHasRunOut) {
  touch(key_);
  run_out(other_key_, theirs_);
  const auto answers = acquire_all({key_, other_key_}, mine_);
  EXPECT_EQ(answers[0].status, acquire_status::granted);
  EXPECT_FALSE(answers[0].took_over_expired);
  EXPECT_EQ(answers[1].status, acquire_status::granted);
  EXPECT_TRUE(answers[1].took_over_expired);
  EXPECT_EQ(row(other_key_).expiry_count, 1);
}

TEST_P(AcquireAll, IsGrantedOnceMoreAsTheSameAttempt) {
  for (const auto& key : keys_) touch(key);
  const auto versions = all_granted(keys_, mine_);
  EXPECT_EQ(all_granted(keys_, mine_), versions);
  EXPECT_EQ(acquire_all({key_}, theirs_).at(0).status, acquire_status::held);
}

TEST_P(AcquireAll, OfVersionsGrantsNoneIfOneHasMoved) {
  for (const auto& key : keys_) touch(key);
  auto requests = requests_for(keys_, mine_);
  for (auto& request : requests) request.expected = row(request.key).version;
  touch(third_key_);
  const auto refused = rows_->acquire(requests, {acquire_mode::all_or_none});
  EXPECT_EQ(refused[0].status, acquire_status::withheld);
  EXPECT_EQ(refused[2].status, acquire_status::stale);
  requests[2].expected = row(third_key_).version;
  for (const auto& answer : rows_->acquire(requests, {acquire_mode::all_or_none})) {
    EXPECT_EQ(answer.status, acquire_status::granted);
  }
}

TEST_P(AcquireAll, GrantsNoneIfOneIsDone) {
  touch(key_);
  const auto by = granted(other_key_, theirs_);
  const release_request as_done{.key = other_key_, .owner = theirs_, .version = by, .done_for = 1h};
  ASSERT_EQ(rows_->release(std::array{as_done}).at(0), change_answer::done);
  auto requests = requests_for({key_, other_key_}, mine_);
  for (auto& request : requests) request.unless_done = true;
  const auto answers = rows_->acquire(requests, {acquire_mode::all_or_none});
  EXPECT_EQ(answers[0].status, acquire_status::withheld);
  EXPECT_EQ(answers[1].status, acquire_status::done);
  EXPECT_EQ(answers[1].done.value().by, by);
}

TEST_P(AcquireAll, OfNothingIsNothing) { EXPECT_TRUE(acquire_all({}, mine_).empty()); }

TEST_P(AcquireAll, OfOneKeyTwiceIsMisuse) {
  try {
    acquire_all({key_, other_key_, key_}, mine_);
    ADD_FAILURE() << "was taken";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.kind(), errc::misuse);
  }
  EXPECT_FALSE(read(key_));
}

TEST_P(AcquireAll, OfMoreThanAThousandIsMisuse) {
  std::vector<lock_key> many;
  for (int i = 0; i < 1001; ++i) many.push_back({"job", std::to_string(i)});
  try {
    acquire_all(many, mine_);
    ADD_FAILURE() << "was taken";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.kind(), errc::misuse);
  }
  many.pop_back();
  EXPECT_EQ(all_granted(many, mine_).size(), 1000U);
}

INSTANTIATE_TEST_SUITE_P(Stores, AcquireAll, testing::ValuesIn(every_store()), name_of);

class AcquireAllAmongOthers : public AcquireAll {};

TEST_P(AcquireAllAmongOthers, GrantsNoneIfATransactionHasOne) {
  for (const auto& key : keys_) touch(key);
  const locked_rows locked{*bench_, other_key_};
  const auto answers = acquire_all(keys_, mine_);
  EXPECT_EQ(answers[0].status, acquire_status::withheld);
  EXPECT_EQ(answers[1].status, acquire_status::busy);
  for (const auto& key : {key_, third_key_}) EXPECT_FALSE(row(key).owned);
}

/// Two keys, and so many that a statement has a time in which others change its rows.
TEST_P(AcquireAllAmongOthers, GrantsAllOrNoneWhileTransactionsLockAndLeaveRows) {
  for (const std::size_t count : {2U, 200U}) {
    std::vector<lock_key> keys;
    for (std::size_t i = 0; i < count; ++i) {
      keys.push_back({"set-of-" + std::to_string(count), std::to_string(i)});
    }
    rows_->read(keys, read_mode::ready_to_commit);
    std::atomic<bool> is_over = false;
    std::vector<std::future<void>> others;
    for (std::size_t other = 0; other < 3; ++other) {
      others.push_back(std::async(std::launch::async, [&, other] {
        const auto connection = bench_->connect();
        for (auto at = other; !is_over; at += 7) {
          (void)connection->with_row_lock(keys[at % count], no_wait(),
                                          [](app_transaction& /*work*/) { return 0; });
        }
      }));
    }
    for (int round = 0; round < 100; ++round) {
      const auto answers = acquire_all(keys, mine_);
      std::vector<release_request> granted;
      for (std::size_t i = 0; i < count; ++i) {
        if (answers[i].status != acquire_status::granted) continue;
        granted.push_back({keys[i], mine_, answers[i].version.value()});
      }
      EXPECT_TRUE(granted.empty() || granted.size() == count) << granted.size();
      release_all(granted);
    }
    is_over = true;
    for (auto& other : others) other.get();
    for (const auto& key : keys) EXPECT_FALSE(row(key).owned) << key;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AcquireAllAmongOthers);
INSTANTIATE_TEST_SUITE_P(Stores, AcquireAllAmongOthers,
                         testing::ValuesIn(stores_with_transactions_side_by_side()), name_of);

}  // namespace
}  // namespace rowlock::tests
