// After fork(): the child's copies are dead, and the parent does not notice.
#include <optional>
#include <stop_token>
#include <thread>

#include "conformance/store_test.hpp"
#include "rowlock/row_mutex.hpp"
#include "support/forked_child.hpp"

namespace rowlock::tests {
namespace {

using complaints = std::vector<std::string>;

class Fork : public store_test {
 protected:
  /// `call` is misuse, and says what to do instead.
  template <class Call>
  static void expect_misuse(complaints& wrong, const std::string& name, const Call& call) {
    try {
      call();
      wrong.push_back(name + " did not throw");
    } catch (const error& thrown) {
      const std::string words = thrown.what();
      const bool says_so = words.find("make a new store") != std::string::npos;
      if (thrown.kind() != errc::misuse || !says_so) wrong.push_back(name + ": " + words);
    }
  }
};

TEST_P(Fork, LeavesTheChildNothingOfALeaseAndTheParentAllOfIt) {
  auto used = bench_->open();
  std::optional<lock_table> locks{std::in_place, *used, lock_options{.ttl = 1h}};
  std::optional<lease> held{*locks->try_acquire(key_)};
  std::optional<lease> destroyed{*locks->try_acquire(other_key_)};
  const auto wrong = complaints_of_child([&](complaints& said) {
    if (held->is_valid()) said.emplace_back("the lease is valid");
    if (held->remaining() != 0ns) said.emplace_back("the lease has time left");
    if (held->release() != release_result::lost) said.emplace_back("the lease could be released");
    expect_misuse(said, "a fence", [&] { const fenced_leases proof(*held); });
    expect_misuse(said, "a fence of several", [&] { const fenced_leases proof{std::cref(*held)}; });
    destroyed.reset();
    locks.reset();
    held.reset();
    used.reset();
  });
  EXPECT_EQ(wrong, complaints{});
  EXPECT_TRUE(held->is_valid());
  EXPECT_TRUE(row(key_).is_live());
  EXPECT_TRUE(row(other_key_).is_live());
  EXPECT_EQ(held->release(), release_result::released);
  EXPECT_EQ(destroyed->release(), release_result::released);
}

TEST_P(Fork, MakesEveryCallOfTheChildMisuse) {
  lock_table locks{*rows_};
  row_mutex mutex{locks, key_};
  const std::scoped_lock locked{mutex};
  const auto wrong = complaints_of_child([&](complaints& said) {
    expect_misuse(said, "acquire", [&] { acquire(key_, mine_); });
    expect_misuse(said, "renew", [&] { renew(key_, mine_, {1}); });
    expect_misuse(said, "release", [&] { release(key_, mine_, {1}); });
    expect_misuse(said, "read", [&] { read(key_); });
    expect_misuse(said, "prepare", [&] { prepare(key_); });
    expect_misuse(said, "list", [&] { (void)rows_->list(); });
    expect_misuse(said, "try_acquire", [&] { (void)locks.try_acquire(key_); });
    expect_misuse(said, "with_lock", [&] { (void)locks.with_lock(key_, [] {}); });
    expect_misuse(said, "lock_table::read", [&] { (void)locks.read(key_); });
    expect_misuse(said, "lock", [&] { mutex.lock(); });
    expect_misuse(said, "try_lock", [&] { (void)mutex.try_lock(); });
    expect_misuse(said, "try_lock_for", [&] { (void)mutex.try_lock_for(1h); });
  });
  EXPECT_EQ(wrong, complaints{});
  EXPECT_TRUE(mutex.possession().is_valid());
}

// The child has the mutexes of everything in whatever state the other threads had them.
TEST_P(Fork, WhileOtherThreadsWorkHangsNobody) {
  std::shared_ptr<store> used = bench_->open();
  std::optional<lock_table> locks{std::in_place, *used, lock_options{.ttl = 1h}};
  std::optional<row_mutex> mutex{std::in_place, *locks, other_key_};
  std::optional<lease> held{*locks->try_acquire(key_)};
  std::vector<std::jthread> threads;  // which end with the test
  for (int thread = 0; thread < 3; ++thread) {
    const lock_key own{"thread", std::to_string(thread)};
    threads.emplace_back([&, own](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        (void)locks->with_lock(own, [] {});
        const std::scoped_lock turn{*mutex};
      }
    });
  }
  complaints wrong;
  for (int i = 0; i < 20 && wrong.empty(); ++i) {
    wrong = complaints_of_child([&](complaints& said) {
      if (held->is_valid()) said.emplace_back("the lease is valid");
      expect_misuse(said, "try_acquire", [&] { (void)locks->try_acquire(key_); });
      expect_misuse(said, "list", [&] { (void)used->list(); });
      expect_misuse(said, "try_lock", [&] { (void)mutex->try_lock(); });
      held.reset();
      mutex.reset();
      locks.reset();
      used.reset();
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, complaints{});
  EXPECT_TRUE(held->is_valid());
}

INSTANTIATE_TEST_SUITE_P(Stores, Fork, testing::ValuesIn(every_store()), name_of);

class ForkShared : public Fork {
 protected:
  /// The child's store sees the parent's lease, and leaves the parent one of its own.
  void expect_own_store(complaints& said) {
    const auto own = bench_->open();
    if (acquire(*own, key_, mine_).status != acquire_status::held) {
      said.emplace_back("the parent's lease is not held");
    }
    const auto taken = acquire(*own, other_key_, mine_);
    if (taken.status != acquire_status::granted) said.emplace_back("a free key was not granted");
  }
};

TEST_P(ForkShared, LetsTheChildMakeAStoreOfItsOwnOnceTheParentHasNone) {
  {
    const auto used = bench_->open();
    ASSERT_EQ(acquire(*used, key_, theirs_).status, acquire_status::granted);
  }
  EXPECT_EQ(complaints_of_child([this](complaints& said) { expect_own_store(said); }),
            complaints{});
  EXPECT_TRUE(row(other_key_).is_live());
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ForkShared);
INSTANTIATE_TEST_SUITE_P(Stores, ForkShared, testing::ValuesIn(stores_shared_between_processes()),
                         name_of);

class ForkBeside : public ForkShared {};

TEST_P(ForkBeside, LetsTheChildMakeAStoreOfItsOwn) {
  granted(key_, theirs_);
  EXPECT_EQ(complaints_of_child([this](complaints& said) { expect_own_store(said); }),
            complaints{});
  EXPECT_TRUE(row(other_key_).is_live());
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ForkBeside);
INSTANTIATE_TEST_SUITE_P(Stores, ForkBeside, testing::ValuesIn(stores_shared_with_children()),
                         name_of);

}  // namespace
}  // namespace rowlock::tests
