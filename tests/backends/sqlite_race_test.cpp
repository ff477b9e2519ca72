// What happens between the look at a row and the write to it.
#include <sqlite3.h>

#include <functional>
#include <string_view>
#include <utility>

#include "backends/sqlite_files.hpp"
#include "rowlock/sqlite.hpp"

namespace rowlock::tests {
namespace {

/// A store on whose connection something else happens just before the first write.
class SqliteRace : public migrated_sqlite_test {
 protected:
  [[nodiscard]] std::unique_ptr<sqlite_store> store_with(
      std::function<void()> just_before_a_write) {
    between_ = std::move(just_before_a_write);
    return std::make_unique<sqlite_store>([this] {
      auto database = open();
      sqlite3_trace_v2(database->getHandle(), SQLITE_TRACE_STMT, &SqliteRace::at_statement, this);
      return database;
    });
  }

  acquire_answer acquire_at(store& rows, version expected) const {
    auto wanted = request(key_);
    wanted.expected = expected;
    return rows.acquire(std::array{wanted}).at(0);
  }

  row_state row() { return others_.read(std::array{key_}).at(0).value(); }

  void run_out() const {
    open()->exec("UPDATE shared_lock SET expires_at = '2026-01-31 12:00:00.000'");
  }

  sqlite_store others_{path()};

 private:
  static int at_statement(unsigned /*event*/, void* self, void* /*statement*/, void* text) {
    const std::string_view sql{static_cast<const char*>(text)};
    const bool is_write = sql.find("INSERT INTO") != std::string_view::npos ||
                          sql.find("UPDATE \"") != std::string_view::npos;
    auto& between = static_cast<SqliteRace*>(self)->between_;
    if (is_write && between) std::exchange(between, nullptr)();
    return 0;
  }

  std::function<void()> between_;
};

TEST_F(SqliteRace, ARowThatWasTakenMeanwhileIsHeld) {
  auto theirs = request(key_);
  theirs.owner = make_owner_id();
  const auto rows = store_with([&] { others_.acquire(std::array{theirs}); });
  const auto answer = acquire(*rows);
  EXPECT_EQ(answer.status, acquire_status::held);
  EXPECT_EQ(answer.holder, "host:1");
  EXPECT_EQ(answer.version, row().version);
}

TEST_F(SqliteRace, ARowWhoseVersionMovedMeanwhileIsStale) {
  const auto seen = others_.prepare(std::array{key_}).at(0).value().version;
  const auto rows = store_with([&] {
    const auto granted = acquire(others_).version.value();
    others_.release(std::array{release_request{key_, mine_, granted}});
  });
  EXPECT_EQ(acquire_at(*rows, seen).status, acquire_status::stale);
  EXPECT_FALSE(row().owned);
}

TEST_F(SqliteRace, AnOwnLeaseThatRanOutMeanwhileIsStaleForWhoExpectsAVersion) {
  const auto granted = acquire(others_).version.value();
  const auto rows = store_with([&] { run_out(); });
  EXPECT_EQ(acquire_at(*rows, granted).status, acquire_status::stale);
  EXPECT_EQ(row().version, granted);
  EXPECT_FALSE(row().is_live());
}

TEST_F(SqliteRace, ALeaseThatWasUnsetMeanwhileIsNotUnsetAgain) {
  acquire(others_);
  run_out();
  const auto rows = store_with([&] { others_.prepare(std::array{key_}); });
  const auto prepared = rows->prepare(std::array{key_}).at(0).value();
  EXPECT_EQ(prepared.version, row().version);
  EXPECT_EQ(row().expiry_count, 1);
}

TEST_F(SqliteRace, ALeaseThatWasRenewedMeanwhileIsNotUnset) {
  const auto granted = acquire(others_).version.value();
  run_out();
  const auto rows = store_with([&] {
    others_.renew(std::array{renew_request{key_, mine_, granted, 1h}});
  });
  const auto prepared = rows->prepare(std::array{key_}).at(0).value();
  EXPECT_TRUE(prepared.is_live());
  EXPECT_EQ(prepared.version, granted);
}

TEST_F(SqliteRace, AFailureIsNotCountedForWhoHasTheRowMeanwhile) {
  acquire(others_);
  const auto application = open();
  row_transaction<sqlite_transaction>::count_failure(*application, key_, {});
  EXPECT_EQ(row().failure_count, 0);
}

TEST_F(SqliteRace, ARowThatSomebodyCreatedMeanwhileIsGrantedAtALaterVersion) {
  const auto rows = store_with([&] { others_.prepare(std::array{key_}); });
  EXPECT_EQ(acquire(*rows).status, acquire_status::granted);
  EXPECT_TRUE(row().is_live());
}

}  // namespace
}  // namespace rowlock::tests
