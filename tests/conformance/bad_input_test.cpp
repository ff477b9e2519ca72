// What is wrong is misuse at every call of every store, and then nothing was written.
#include <functional>
#include <string>
#include <vector>

#include "conformance/locked_rows.hpp"
#include "conformance/store_test.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/row_mutex.hpp"

namespace rowlock::tests {
namespace {

std::vector<lock_key> bad_keys() {
  const std::string with_nul{"a\0b", 3};
  std::vector<lock_key> keys{{"", "a"},
                             {"job", ""},
                             {std::string(65, 't'), "a"},
                             {std::string(65, 't') + "#1", "a"},
                             {"scope/" + std::string(65, 't'), "a"},
                             {std::string(65, 's') + "/t", "a"},
                             {"job", std::string(256, 'x')},
                             // 254 characters, 256 bytes.
                             {"job", std::string(253, 'x') + "日"},
                             {with_nul, "a"},
                             {"job", with_nul},
                             {"job", std::string(1, '\0')}};
  for (const auto* type : {"a b", "jöb", "a\n", "a'b",  "a\"",     "a%",    "a*",    "a\\b",
                           "a,b", " ",   "/a",  "a/",   "a/b/c",   "a//b",  "a/b c", "a b/c",
                           "a#",  "#1",  "a#x", "a#-1", "a#12345", "a#1#2", "a#1/b", "a/#1"}) {
    keys.push_back({type, "a"});
  }
  for (const auto* no_utf8 : {
           "\x80",              // a continuation without a beginning
           "a\xff",             // never in UTF-8
           "\xc0\xaf",          // overlong slash
           "\xc1\x81",          // overlong
           "\xe0\x80\xaf",      // overlong
           "\xf0\x80\x80\xaf",  // overlong
           "\xed\xa0\x80",      // high surrogate
           "\xed\xbf\xbf",      // low surrogate
           "\xf4\x90\x80\x80",  // above U+10FFFF
           "\xf5\x80\x80\x80",  // above U+10FFFF
           "\xc3",              // cut off
           "\xe2\x82",          // cut off
           "\xf0\x9f\x98",      // cut off
           "\xe2\x28\xa1",      // broken in the middle
           "\xf0\x9f\x98\x28",  // broken at the end
           "caf\xe9",           // Latin-1
       }) {
    keys.push_back({"job", no_utf8});
  }
  return keys;
}

class BadInput : public store_test {
 protected:
  static void expect_misuse(const std::function<void()>& call, const std::string& which) {
    try {
      call();
      ADD_FAILURE() << "no error for " << which;
    } catch (const error& thrown) {
      EXPECT_EQ(thrown.kind(), errc::misuse) << which << ": " << thrown.what();
    }
  }

  void expect_nothing_written() { EXPECT_FALSE(read(key_)); }
};

TEST_P(BadInput, ABadKeyIsMisuseOfTheStoreAndTheGoodOneBesideItIsNotTouched) {
  for (const auto& bad : bad_keys()) {
    const auto which = testing::PrintToString(bad.type + '|' + bad.source_id);
    for (const auto& keys : {std::array{key_, bad}, std::array{bad, key_}}) {
      std::vector<acquire_request> acquires;
      std::vector<renew_request> renewals;
      std::vector<release_request> releases;
      for (const auto& key : keys) {
        acquires.push_back({.key = key, .owner = mine_, .holder = "host:1", .ttl = 1h});
        renewals.push_back({key, mine_, version{1}, 1h});
        releases.push_back({key, mine_, version{1}});
      }
      expect_misuse([&] { rows_->acquire(acquires); }, which);
      expect_misuse([&] { rows_->renew(renewals); }, which);
      expect_misuse([&] { rows_->release(releases); }, which);
      expect_misuse([&] { rows_->read(keys); }, which);
      expect_misuse([&] { rows_->read(keys, read_mode::ready_to_commit); }, which);
    }
  }
  expect_nothing_written();
}

TEST_P(BadInput, ABadKeyIsMisuseOfTheLockTable) {
  lock_table locks{*rows_};
  for (const auto& bad : bad_keys()) {
    const auto which = testing::PrintToString(bad.type + '|' + bad.source_id);
    bool has_run = false;
    expect_misuse([&] { (void)locks.try_acquire(bad); }, which);
    expect_misuse([&] { (void)locks.with_lock(bad, [&] { has_run = true; }); }, which);
    expect_misuse([&] { (void)locks.read(bad); }, which);
    expect_misuse([&] { row_mutex{locks, bad}; }, which);
    EXPECT_FALSE(has_run) << which;
  }
  EXPECT_TRUE(rows_->list().empty());
}

TEST_P(BadInput, ATtlOutOfRangeIsMisuse) {
  for (const std::chrono::microseconds ttl :
       {0us, -1us, std::chrono::microseconds{-1h}, 24h + 1us, std::chrono::microseconds::max()}) {
    const auto which = std::to_string(ttl.count()) + " us";
    expect_misuse([&] { acquire(key_, mine_, {}, ttl); }, which);
    expect_misuse([&] { renew(key_, mine_, version{1}, ttl); }, which);
  }
  expect_nothing_written();
}

TEST_P(BadInput, ATtlThatIsNotAboveTheMarginIsMisuseOfTheLockTable) {
  lock_table locks{*rows_, {.margin = 200ms}};
  for (const auto ttl : {200ms, 199ms, 0ms, -1ms}) {
    expect_misuse([&] { (void)locks.try_acquire(key_, {.ttl = ttl}); }, "ttl of one attempt");
    expect_misuse([&] { lock_table(*rows_, {.ttl = ttl, .margin = 200ms}); }, "ttl of all");
  }
  expect_misuse([&] { (void)locks.try_acquire(key_, {.ttl = 24h + 1ms}); }, "a day and more");
  expect_nothing_written();
}

TEST_P(BadInput, ABadHolderLabelIsMisuse) {
  for (const auto& holder : {std::string(129, 'h'), std::string{"a\0b", 3}, std::string{"\xff"}}) {
    const acquire_request request{.key = key_, .owner = mine_, .holder = holder, .ttl = 1h};
    expect_misuse([&] { rows_->acquire(std::array{request}); }, holder);
    expect_misuse([&] { lock_table(*rows_, {.holder = holder}); }, holder);
  }
  expect_nothing_written();
}

TEST_P(BadInput, NoneOfItStandsInTheMessageWhenItCannotBeShown) {
  for (const auto& bad : bad_keys()) {
    try {
      (void)read(bad);
      ADD_FAILURE() << "no error";
    } catch (const error& thrown) {
      for (const char shown : std::string{thrown.what()}) {
        EXPECT_TRUE(shown >= ' ' && shown <= '~') << thrown.what();
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, BadInput, testing::ValuesIn(every_store()), name_of);

class BadInputToTransactions : public BadInput {};

TEST_P(BadInputToTransactions, ABadKeyIsMisuseOfATransactionWhichStaysUsable) {
  open_transaction used{*bench_};
  for (const auto& bad : bad_keys()) {
    const auto which = testing::PrintToString(bad.type + '|' + bad.source_id);
    expect_misuse([&] { (void)used->lock_rows(lock_keys{key_, bad}, no_wait()); }, which);
    expect_misuse([&] { (void)used->read_version(bad); }, which);
    expect_misuse([&] { (void)used->try_commit(bad, version{1}); }, which);
  }
  used->write_note("still here");
  used.commit();
  EXPECT_EQ(bench_->connect()->notes(), std::vector<std::string>{"still here"});
  expect_nothing_written();
}

TEST_P(BadInputToTransactions, ABadKeyIsMisuseOfAnOptimisticCommit) {
  const auto connection = bench_->connect();
  for (const auto& bad : bad_keys()) {
    bool has_run = false;
    const auto work = [&](app_transaction&) { return has_run = true; };
    expect_misuse([&] { (void)connection->with_optimistic_commit(bad, work); }, bad.source_id);
    EXPECT_FALSE(has_run);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BadInputToTransactions);
INSTANTIATE_TEST_SUITE_P(Stores, BadInputToTransactions,
                         testing::ValuesIn(stores_with_transactions()), name_of);

}  // namespace
}  // namespace rowlock::tests
