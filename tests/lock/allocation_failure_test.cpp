// What becomes of a lease that ends when there is no memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "race/allocations.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/row_mutex.hpp"
#include "rowlock/testing/memory_store.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

/// More than any of the calls below makes.
constexpr std::uint64_t most_allocations = 60;

class AllocationFailure : public testing::Test {
 protected:
  /// Calls `end` without memory after so many allocations. Whatever fails, no lease stays: the rows
  /// are free, at the latest when the leases run out.
  template <class End>
  void expect_free_after(std::uint64_t allowed, const lock_keys& keys, const End& end) {
    race::fail_allocations_after(allowed);
    end();
    race::fail_no_allocations();
    for (const auto& key : keys.in_order()) {
      for (int tries = 0; tries < 100 && !locks_->try_acquire(key).acquired(); ++tries) {
        time_->advance(1s);
      }
      EXPECT_TRUE(locks_->try_acquire(key).acquired()) << "after " << allowed << " allocations";
    }
  }

  const std::shared_ptr<manual_time> time_ = std::make_shared<manual_time>();
  memory_store rows_{time_};
  std::optional<lock_table> locks_{std::in_place, rows_, lock_options{.ttl = 30s, .time = time_}};
  const lock_key key_{"job", "a"};
  const lock_key other_key_{"job", "b"};
};

TEST_F(AllocationFailure, OfAReleaseLeavesTheRowToTheTtl) {
  for (std::uint64_t allowed = 0; allowed < most_allocations; ++allowed) {
    auto held = *locks_->try_acquire(key_);
    expect_free_after(allowed, key_, [&] {
      EXPECT_NE(held.release(), release_result::lost);
      EXPECT_FALSE(held.is_valid());
    });
  }
}

TEST_F(AllocationFailure, OfAReleaseOfSeveralLeavesTheRowsToTheTtl) {
  for (std::uint64_t allowed = 0; allowed < most_allocations; ++allowed) {
    auto held = *locks_->try_acquire_all({key_, other_key_});
    expect_free_after(allowed, {key_, other_key_}, [&] {
      EXPECT_NE(held.release(), release_result::lost);
      EXPECT_FALSE(held.is_valid());
    });
  }
}

TEST_F(AllocationFailure, OfAReleaseAfterItsCommitHasReleased) {
  for (std::uint64_t allowed = 0; allowed < most_allocations; ++allowed) {
    auto held = *locks_->try_acquire(key_);
    run_fenced<memory_transaction>(rows_, held, [](memory_transaction&) {}, {.release = true});
    race::fail_allocations_after(allowed);
    const auto result = held.release();
    race::fail_no_allocations();
    EXPECT_EQ(result, release_result::released) << "after " << allowed << " allocations";
  }
}

TEST_F(AllocationFailure, OfADestructorLeavesTheRowToTheTtl) {
  for (std::uint64_t allowed = 0; allowed < most_allocations; ++allowed) {
    row_mutex mutex{*locks_, key_};
    mutex.lock();
    expect_free_after(allowed, key_, [&] { mutex.unlock(); });
  }
}

TEST_F(AllocationFailure, OfALockTablesDestructorLeavesTheRowToTheTtl) {
  for (std::uint64_t allowed = 0; allowed < most_allocations; ++allowed) {
    const auto held = *locks_->try_acquire(key_);
    race::fail_allocations_after(allowed);
    locks_.reset();
    race::fail_no_allocations();
    EXPECT_FALSE(held.is_valid() && time_->now() >= held.valid_until());
    time_->advance(30s);
    locks_.emplace(rows_, lock_options{.ttl = 30s, .time = time_});
    EXPECT_TRUE(locks_->try_acquire(key_).acquired()) << "after " << allowed << " allocations";
  }
}

}  // namespace
}  // namespace rowlock::tests
