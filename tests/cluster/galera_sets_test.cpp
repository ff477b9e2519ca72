// Threads at all nodes of a Galera cluster at once: sets that cross, any of a common set, one key.
#include <gtest/gtest.h>
#include <soci/soci.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "cluster/galera_locks.hpp"
#include "rowlock/soci.hpp"
#include "support/patience.hpp"
#include "support/watched_store.hpp"

namespace rowlock::tests {
namespace {

using namespace std::chrono_literals;

/// Often enough that threads that collide collide again soon.
retry_policy soon_again() {
  return {.first_pause = 1ms, .longest_pause = 2ms, .give_up_after = patience};
}

class GaleraSets : public galera_locks {
 protected:
  static constexpr std::size_t keys = 6;

  GaleraSets() {
    auto line = cluster().connect(0);
    line.execute("create table counted (place int primary key, n int not null)");
    for (std::size_t i = 0; i < keys; ++i) {
      line.execute("insert into counted values (" + std::to_string(i) + ", 0)");
    }
  }

  static lock_key key_at(std::size_t place) {
    return {.type = "cluster", .source_id = std::to_string(place)};
  }
  static std::vector<lock_key> all_keys() {
    std::vector<lock_key> all;
    for (std::size_t i = 0; i < keys; ++i) all.push_back(key_at(i));
    return all;
  }

  /// Two threads at each node take leases so often, each time by `take`, and write under them.
  template <class Take>
  void contend(int rounds, const Take& take) {
    std::vector<std::future<void>> all;
    for (unsigned i = 0; i < 2 * galera_cluster::size; ++i) {
      all.push_back(std::async(std::launch::async, [this, rounds, &take, i] {
        const std::size_t node = i % galera_cluster::size;
        soci::session session{target(node)};
        session << "set session wsrep_sync_wait = 1";
        std::mt19937 chance{i};
        for (int round = 0; round < rounds; ++round) {
          auto held = take(locks(node), chance);
          ASSERT_TRUE(held.acquired()) << held.refusal();
          count_under(session, leases_of(*held));
          EXPECT_EQ(held->release(), release_result::released);
        }
      }));
    }
    for (auto& each : all) each.get();
  }

  /// Two holders of a key at once would have counted as one.
  void expect_nothing_lost_and_all_free() const {
    for (std::size_t node = 0; node < galera_cluster::size; ++node) {
      auto line = cluster().connect(node);
      line.execute("set session wsrep_sync_wait = 1");
      EXPECT_EQ(line.number("select sum(n) from counted"), counted_);
      EXPECT_EQ(line.number("select count(*) from shared_lock where owner is not null"), 0);
    }
  }

 private:
  static std::span<const lease> leases_of(const lease& one) { return {&one, 1}; }
  static std::span<const lease> leases_of(const lease_set& several) { return several.leases(); }

  void count_under(soci::session& session, std::span<const lease> held) {
    std::vector<std::string> updates;
    for (const auto& each : held) {
      const auto& place = each.key().source_id;
      EXPECT_FALSE(is_held_.at(std::stoul(place)).exchange(true)) << place << " has two holders";
      int seen = 0;
      session << "select n from counted where place = " + place, soci::into(seen);
      updates.push_back("update counted set n = " + std::to_string(seen + 1) +
                        " where place = " + place);
    }
    run_fenced<soci_transaction>(session, held, [&](soci_transaction& transaction) {
      for (const auto& each : updates) transaction.session() << each;
    });
    counted_ += static_cast<std::int64_t>(held.size());
    for (const auto& each : held) is_held_.at(std::stoul(each.key().source_id)) = false;
  }

  std::array<std::atomic<bool>, keys> is_held_{};
  std::atomic<std::int64_t> counted_{0};
};

TEST_F(GaleraSets, ThatCrossHaveOneHolderAKey) {
  contend(25, [](lock_table& at_node, std::mt19937& chance) {
    auto wanted = all_keys();
    std::shuffle(wanted.begin(), wanted.end(), chance);
    wanted.resize(3);
    return at_node.try_acquire_all(wanted, {.wait = soon_again()});
  });
  expect_nothing_lost_and_all_free();
}

TEST_F(GaleraSets, OfAnyOfACommonSetHaveOneHolderAKey) {
  contend(25, [](lock_table& at_node, std::mt19937&) {
    return at_node.try_acquire_any(all_keys(), 2, {.wait = soon_again()});
  });
  expect_nothing_lost_and_all_free();
}

TEST_F(GaleraSets, OfBothKindsHaveOneHolderAKey) {
  contend(25, [](lock_table& at_node, std::mt19937& chance) {
    if (chance() % 2 == 0) return at_node.try_acquire_any(all_keys(), 2, {.wait = soon_again()});
    return at_node.try_acquire_all({key_at(chance() % 3), key_at(3 + chance() % 3)},
                                   {.wait = soon_again()});
  });
  expect_nothing_lost_and_all_free();
}

// Releases hand it over to the other thread at the node, while other nodes' threads try for it.
TEST_F(GaleraSets, OfOneKeyThatIsHandedOverHaveOneHolder) {
  contend(25, [](lock_table& at_node, std::mt19937&) {
    return at_node.try_acquire(key_at(0), {.wait = soon_again()});
  });
  expect_nothing_lost_and_all_free();
}

class GaleraHandoff : public galera_locks {};

TEST_F(GaleraHandoff, PassesBySomebodyWhoWaitsAtAnotherNode) {
  const lock_key key{.type = "cluster", .source_id = "1"};
  const acquire_request first{.key = key, .owner = make_owner_id(), .holder = "first:1", .ttl = 1h};
  acquire_request next = first;
  next.owner = make_owner_id();
  const auto granted = rows(0).acquire(std::array{first}).front().version.value();

  watched_store watched{rows(1)};
  lock_table elsewhere{watched, {.ttl = 1h, .renew = false}};
  auto waiting = std::async(std::launch::async,
                            [&] { return elsewhere.try_acquire(key, {.wait = soon_again()}); });
  watched.await_refusals(1);
  const auto answer = rows(0).handoff({.ended = {key, first.owner, granted}, .next = next});
  EXPECT_EQ(answer.ended, change_answer::done);
  ASSERT_TRUE(answer.granted);
  EXPECT_GT(*answer.granted, granted);

  watched.await_refusals(watched.refusals() + 3);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  rows(0).release(std::array{release_request{key, next.owner, *answer.granted}});
  const auto got = waiting.get();
  ASSERT_TRUE(got.acquired());
  EXPECT_GT(got->token(), *answer.granted);
}

}  // namespace
}  // namespace rowlock::tests
