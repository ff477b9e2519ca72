// What it costs to keep ten thousand leases. How long that takes is measured by script/bench.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock::tests {
namespace {

constexpr std::size_t many = 10'000;

lock_key key_of(std::size_t number) { return {.type = "job", .source_id = std::to_string(number)}; }

/// Remembers of how many leases the calls were that renewed.
class counted_renewals final : public passing_store {
 public:
  using passing_store::passing_store;

  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    auto answers = passing_store::do_renew(requests);
    {
      const std::scoped_lock lock{mutex_};
      rounds_.push_back(requests.size());
    }
    renewed_.notify_all();
    return answers;
  }

  /// All so far, once there are `count`.
  std::vector<std::size_t> await(std::size_t count) {
    std::unique_lock lock{mutex_};
    if (!renewed_.wait_for(lock, patience, [&] { return rounds_.size() >= count; })) {
      throw std::runtime_error{"no renewal came"};
    }
    return rounds_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable renewed_;
  std::vector<std::size_t> rounds_;  // guarded by mutex_
};

using PostgresRenewalCost = postgres_table;

TEST_F(PostgresRenewalCost, OfTenThousandLeasesIsOneRoundEachThirdOfTheirTtl) {
  const auto time = std::make_shared<manual_time>();
  postgres_store rows = open_store();
  counted_renewals counted{rows};
  lock_table locks{counted, {.ttl = 3h, .time = time}};
  std::vector<lease> leases;
  leases.reserve(many);
  for (std::size_t i = 0; i < many; ++i) leases.push_back(*locks.try_acquire(key_of(i)));
  for (std::size_t round = 1; round <= 3; ++round) {
    time->advance(1h);
    EXPECT_EQ(counted.await(round), std::vector<std::size_t>(round, many));
  }
  for (const auto& held : leases) EXPECT_TRUE(held.is_valid());
  leases.front().release();
}

}  // namespace
}  // namespace rowlock::tests
