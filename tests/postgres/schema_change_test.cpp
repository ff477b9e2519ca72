// A table that is changed, or made anew, under stores that are in use.
#include <array>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/leader.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/postgres.hpp"
#include "soci/soci_postgres_table.hpp"
#include "support/caught_error.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {
namespace {

/// By libpqxx, and by SOCI.
class PostgresSchemaChange : public soci_postgres_table,
                             public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] std::unique_ptr<store> open(unsigned pool_size = 1) const {
    if (std::string{GetParam()} == "libpqxx") {
      auto options = long_waits();
      options.table = table();
      options.pool_size = pool_size;
      return std::make_unique<postgres_store>(postgres_url(), options);
    }
    auto options = long_waits_of_soci();
    options.table = table();
    options.pool_size = pool_size;
    return std::make_unique<soci_store>(soci_url(), options);
  }

  /// All calls of the port, so that their statements are prepared; leaves `key_` held.
  void use(store& rows) {
    const std::array both{request(key_), request(other_key_)};
    const std::array keys{key_, other_key_};
    const auto release_all = [&](const std::vector<acquire_answer>& granted) {
      std::vector<release_request> ended;
      for (std::size_t i = 0; i < granted.size(); ++i) {
        ASSERT_EQ(granted[i].status, acquire_status::granted);
        ended.push_back({keys.at(i), mine_, *granted[i].version});
      }
      for (const auto answer : rows.release(ended)) EXPECT_EQ(answer, change_answer::done);
    };
    release_all(rows.acquire(both));
    release_all(rows.acquire(both, {acquire_mode::all_or_none}));
    release_all(rows.acquire(both, {acquire_mode::any, 2}));
    const auto held = acquire(rows, key_);
    ASSERT_EQ(held.status, acquire_status::granted);
    EXPECT_EQ(renew(rows, key_, *held.version), change_answer::done);
    EXPECT_EQ(release(rows, key_, *held.version), change_answer::done);
    rows.read(keys, read_mode::ready_to_commit);
    EXPECT_TRUE(rows.list().empty());
    EXPECT_EQ(acquire(rows, key_).status, acquire_status::granted);
    EXPECT_TRUE(rows.read(keys).front()->is_live());
  }

  /// So that plans are kept.
  void use_often(store& rows) {
    for (int i = 0; i < 20; ++i) {
      const auto granted = acquire(rows, key_);
      ASSERT_EQ(granted.status, acquire_status::granted);
      EXPECT_EQ(release(rows, key_, *granted.version), change_answer::done);
    }
  }
  std::string primary_key() {
    return server_.value<std::string>(
        "select conname from pg_constraint where contype = 'p' and conrelid = '" + name() +
        "'::regclass");
  }
  /// Whether a statement waits for the lock of the table.
  std::string waits_for_the_table() const {
    return "select count(*) = 1 from pg_locks where not granted and relation = '" + name() +
           "'::regclass";
  }

  /// In one transaction, as a migration tool does it.
  void take_back_and_apply_again() {
    const auto step = postgres_migrations(table()).front();
    postgres_schema::execute(step.down + step.up);
  }
};

INSTANTIATE_TEST_SUITE_P(By, PostgresSchemaChange, testing::Values("libpqxx", "soci"),
                         [](const auto& by) { return std::string{by.param}; });

TEST_P(PostgresSchemaChange, ATableThatIsMadeAnewIsUsedOn) {
  const auto rows = open();
  use(*rows);
  take_back_and_apply_again();
  EXPECT_EQ(acquire(*rows, key_).status, acquire_status::granted) << "it begins empty";
  const auto seen = rows->read(std::array{key_}).front();
  EXPECT_EQ(release(*rows, key_, seen->version), change_answer::done);
  use(*rows);
}

TEST_P(PostgresSchemaChange, ADumpThatIsRestoredKeepsWhatIsHeld) {
  const auto rows = open();
  use(*rows);
  const auto before = rows->read(std::array{key_}).front();
  child_process restore{{"sh", "-c",
                         "pg_dump --clean --schema=" + schema() + " '" + postgres_url() +
                             "' | psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 "
                             "--single-transaction --output=/dev/null '" +
                             postgres_url() + "'"}};
  ASSERT_EQ(restore.wait(), 0) << restore.errors();
  EXPECT_EQ(renew(*rows, key_, before->version), change_answer::done);
  EXPECT_EQ(release(*rows, key_, before->version), change_answer::done);
  use(*rows);
}

TEST_P(PostgresSchemaChange, ColumnsThatGetAnotherTypeLoseNoLease) {
  const auto rows = open();
  use(*rows);
  const auto before = rows->read(std::array{key_}).front();
  server_.query("alter table " + name() +
                " alter column version type bigint,"
                " alter column done_by type numeric, add renewed_by text");
  EXPECT_EQ(renew(*rows, key_, before->version), change_answer::done);
  EXPECT_TRUE(rows->read(std::array{key_}).front()->is_live());
  EXPECT_EQ(rows->list().size(), 1U);
  EXPECT_EQ(release(*rows, key_, before->version), change_answer::done);
  use(*rows);
}

// The statement's snapshot is from before the change that it waited for.
TEST_P(PostgresSchemaChange, AGrantThatWaitedForANewKeyIsMade) {
  const auto rows = open();
  use_often(*rows);
  open_work changing;
  changing.work.exec("alter table " + name() + " drop constraint " + primary_key() +
                     ", add primary key (lock_type, source_id)");
  auto granted = std::async(std::launch::async, [&] { return acquire(*rows, key_); });
  server_.await(waits_for_the_table());
  changing.work.commit();
  EXPECT_EQ(granted.get().status, acquire_status::granted);
}

TEST_P(PostgresSchemaChange, LeasesAreKeptThroughIt) {
  const auto rows = open(4);
  const auto time = std::make_shared<manual_time>();
  lock_table locks{*rows, {.ttl = 3h, .time = time}};
  const lease held = *locks.try_acquire(key_);
  const auto await_renewal = [&] {
    const auto until = held.valid_until();
    time->advance(1h);
    EXPECT_TRUE(comes([&] { return held.valid_until() > until; })) << "it was not renewed";
  };
  await_renewal();
  server_.query("alter table " + name() + " alter column version type bigint");
  await_renewal();
  await_renewal();
  EXPECT_TRUE(held.is_valid());
}

TEST_P(PostgresSchemaChange, ACampaignOutlivesIt) {
  const auto rows = open(4);
  lock_table locks{*rows, {.ttl = 3s}};
  std::mutex mutex;
  std::vector<std::promise<void>> began(2);
  std::size_t terms = 0;
  std::stop_source stop;
  auto campaign = std::async(std::launch::async, [&] {
    run_while_leader(locks, key_, stop.get_token(), [&](const lease&, const std::stop_token& over) {
      {
        const std::scoped_lock lock{mutex};
        if (terms < began.size()) began[terms].set_value();
        ++terms;
      }
      std::promise<void> ended;
      const std::stop_callback caught{over, [&] { ended.set_value(); }};
      ended.get_future().wait();
    });
  });
  ASSERT_EQ(began[0].get_future().wait_for(patience), std::future_status::ready);
  take_back_and_apply_again();  // its row is gone, so that this term is
  EXPECT_EQ(began[1].get_future().wait_for(patience), std::future_status::ready);
  stop.request_stop();
  EXPECT_NO_THROW(campaign.get());
}

}  // namespace
}  // namespace rowlock::tests
