// A trigger of the application's that raises for one key.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "postgres/postgres_table.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/lock_table.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class PostgresTrigger : public postgres_table {
 protected:
  /// Updates of the rows of `poison_` and `first_poison_` fail where `condition` holds.
  void raise_when(const std::string& condition, const std::string& sqlstate = "P0001") {
    server_.query("create function " + schema() + ".raise() returns trigger language plpgsql as " +
                  "$$ begin raise 'no' using errcode = '" + sqlstate + "'; end $$");
    server_.query("create trigger raising before update on " + name() +
                  " for each row when (new.source_id like '%poison' and " + condition +
                  ") execute function " + schema() + ".raise()");
  }
  std::vector<lease> all(lock_table& locks) {
    std::vector<lease> held;
    held.push_back(*locks.try_acquire(first_poison_));
    for (int i = 0; i < 8; ++i) held.push_back(*locks.try_acquire({key_.type, std::to_string(i)}));
    held.push_back(*locks.try_acquire(poison_));
    return held;
  }

  const lock_key first_poison_{key_.type, "first poison"};
  const lock_key poison_{key_.type, "poison"};
};

// With an SQLSTATE that the application made up.
TEST_F(PostgresTrigger, ThatRaisesForTheRenewalOfTwoLeasesEndsNoOther) {
  raise_when("new.owner = old.owner and new.version = old.version", "AB001");
  auto rows = open_store();
  const auto time = std::make_shared<manual_time>();
  lock_table locks{rows, {.ttl = 3h, .time = time}};
  const auto held = all(locks);
  const auto granted_until = held.back().valid_until();
  time->advance(1h);  // all are due
  for (std::size_t i = 1; i < held.size() - 1; ++i) {
    ASSERT_TRUE(comes([&] { return held[i].valid_until() > granted_until; })) << i;
  }
  time->advance(2h);
  ASSERT_TRUE(comes([&] { return held.back().lost().stop_requested(); }));
  EXPECT_TRUE(comes([&] { return held.front().lost().stop_requested(); }));
  // A release that met this renewal would be tried again, by a clock that stands still.
  for (std::size_t i = 1; i < held.size() - 1; ++i) {
    EXPECT_TRUE(comes([&] { return held[i].valid_until() > granted_until + 1h; })) << i;
  }
}

TEST_F(PostgresTrigger, ThatRaisesForGrantsIsToldToWhoWaitsForTheirKeysOnly) {
  raise_when("new.holder = 'ours'");
  auto rows = open_store();
  lock_table theirs{rows, {.ttl = 1h}};
  lock_table ours{rows, {.ttl = 1h, .holder = "ours"}};
  auto held = all(theirs);
  std::vector<std::future<outcome<lease>>> waiting;
  for (const auto& each : held) {
    waiting.push_back(std::async(std::launch::async, [&ours, key = each.key()] {
      return ours.try_acquire(key, {.wait = wait_for(patience)});
    }));
  }
  for (const auto& each : held) {
    server_.await("select waiting_until > clock_timestamp() from " + name() + row(each.key()));
  }
  for (auto& each : held) each.release();
  EXPECT_EQ(error_of([&] { (void)waiting.back().get(); }).kind, errc::rejected);
  EXPECT_THROW((void)waiting.front().get(), error);
  for (std::size_t i = 1; i < waiting.size() - 1; ++i) EXPECT_TRUE(waiting[i].get().acquired());
}

}  // namespace
}  // namespace rowlock::tests
