// What happens between the read of a row and the write to it.
#include <sqlite3.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rowlock/sqlite.hpp"
#include "sqlite/sqlite_files.hpp"

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

  /// Of all rows.
  void set(const std::string& values) const { open()->exec("UPDATE shared_lock SET " + values); }
  void run_out() const { set("expires_at = '2026-01-31 12:00:00.000'"); }
  void close() const { set("holder = 'theirs', expires_at = '2999-01-31 12:00:00.000'"); }

  sqlite_store others_{path()};

 private:
  static int at_statement(unsigned /*event*/, void* self, void* /*statement*/, void* text) {
    const std::string_view sql{static_cast<const char*>(text)};
    const bool is_write = sql.find("INSERT INTO") != std::string_view::npos ||
                          sql.find("UPDATE \"") != std::string_view::npos ||
                          sql.find("DELETE FROM") != std::string_view::npos ||
                          sql == "BEGIN IMMEDIATE";
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

TEST_F(SqliteRace, ARowThatWasClosedMeanwhileIsHeldAtItsVersionToo) {
  const auto seen =
      others_.read(std::array{key_}, read_mode::ready_to_commit).at(0).value().version;
  const auto rows = store_with([&] { close(); });
  EXPECT_EQ(acquire_at(*rows, seen).status, acquire_status::held);
  EXPECT_FALSE(row().owned);
}

TEST_F(SqliteRace, WorkThatWasDoneMeanwhileIsDone) {
  const auto seen =
      others_.read(std::array{key_}, read_mode::ready_to_commit).at(0).value().version;
  for (const auto expected : {std::optional<version>{}, std::optional{seen}}) {
    set("done_by = NULL, done_at = NULL, done_until = '1970-01-01 00:00:00.000'");
    const auto rows = store_with([&] {
      set("done_by = 7, done_at = '2026-01-31 12:00:00.000', "
          "done_until = '2999-01-31 12:00:00.000'");
    });
    auto once = request(key_);
    once.expected = expected;
    once.unless_done = true;
    const auto answer = rows->acquire(std::array{once}).at(0);
    EXPECT_EQ(answer.status, acquire_status::done);
    EXPECT_EQ(answer.done.value().by, version{7});
    EXPECT_FALSE(row().owned);
  }
}

TEST_F(SqliteRace, ASetOfWhichOneWasTakenMeanwhileIsNotGrantedAtAll) {
  const lock_key third{"job", "3"};
  const auto before = others_.read(std::array{key_, other_key_, third}, read_mode::ready_to_commit);
  sqlite_store quick{path(), {.turn_timeout = 1ms}};
  auto theirs = request(other_key_);
  theirs.owner = make_owner_id();
  const auto rows = store_with([&] { quick.acquire(std::array{theirs}); });
  const auto answers = rows->acquire(std::array{request(key_), request(other_key_), request(third)},
                                     {acquire_mode::all_or_none});
  EXPECT_EQ(answers.at(0).status, acquire_status::withheld);
  EXPECT_EQ(answers.at(1).status, acquire_status::held);
  EXPECT_EQ(answers.at(2).status, acquire_status::withheld);
  EXPECT_EQ(row().version, before.at(0)->version);
  EXPECT_FALSE(row().owned);
}

TEST_F(SqliteRace, OfASetThoseThatWereTakenMeanwhileAreSkipped) {
  const auto before = others_.read(std::array{key_, other_key_}, read_mode::ready_to_commit);
  sqlite_store quick{path(), {.turn_timeout = 1ms}};
  auto theirs = request(key_);
  theirs.owner = make_owner_id();
  const auto rows = store_with([&] { quick.acquire(std::array{theirs}); });
  const auto answers =
      rows->acquire(std::array{request(key_), request(other_key_)}, {acquire_mode::any, 1});
  EXPECT_EQ(answers.at(0).status, acquire_status::withheld);
  EXPECT_EQ(answers.at(1).status, acquire_status::granted);
}

TEST_F(SqliteRace, ARowThatIsNotIdleAnyMoreIsNotPurged) {
  for (const std::string& meanwhile :
       {std::string{"owner = '0123456789abcdef0123456789abcdef', holder = 'h', "
                    "acquired_at = '2026-01-31 12:00:00.000'"},
        std::string{"holder = 'h', expires_at = '2999-01-31 12:00:00.000'"},
        std::string{"done_by = 1, done_at = '2026-01-31 12:00:00.000', "
                    "done_until = '2999-01-31 12:00:00.000'"},
        std::string{"version = 8999999999999999999"}}) {
    others_.read(std::array{key_}, read_mode::ready_to_commit);
    set("version = 1");
    const auto rows = store_with([&] { set(meanwhile); });
    EXPECT_EQ(rows->purge({.older_than = 1h}).purged, 0U) << meanwhile;
    EXPECT_TRUE(others_.read(std::array{key_}).at(0)) << meanwhile;
    open()->exec("DELETE FROM shared_lock");
  }
}

TEST_F(SqliteRace, ARowThatNobodyHasAnyMoreIsNotTakenByForce) {
  const auto granted = acquire(others_).version.value();
  const auto rows = store_with([&] {
    set("owner = NULL, holder = NULL, acquired_at = NULL, "
        "expires_at = '1970-01-01 00:00:00.000'");
  });
  EXPECT_EQ(rows->force_release({key_, granted, "a test"}), force_answer::stale);
  EXPECT_EQ(row().version, granted);
}

TEST_F(SqliteRace, ARowThatIsHeldAnewMeanwhileIsNotTakenByForce) {
  const auto granted = acquire(others_).version.value();
  const auto rows = store_with([&] {
    others_.release(std::array{release_request{key_, mine_, granted}});
    acquire(others_);
  });
  EXPECT_EQ(rows->force_release({key_, granted, "a test"}), force_answer::stale);
  EXPECT_TRUE(row().is_live());
}

TEST_F(SqliteRace, ARowWhoseVersionMovedMeanwhileIsStale) {
  const auto seen =
      others_.read(std::array{key_}, read_mode::ready_to_commit).at(0).value().version;
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
  const auto rows = store_with([&] { others_.read(std::array{key_}, read_mode::ready_to_commit); });
  const auto prepared = rows->read(std::array{key_}, read_mode::ready_to_commit).at(0).value();
  EXPECT_EQ(prepared.version, row().version);
  EXPECT_EQ(row().expiry_count, 1);
}

TEST_F(SqliteRace, ALeaseThatWasRenewedMeanwhileIsNotUnset) {
  const auto granted = acquire(others_).version.value();
  run_out();
  const auto rows = store_with([&] {
    others_.renew(std::array{renew_request{key_, mine_, granted, 1h}});
  });
  const auto prepared = rows->read(std::array{key_}, read_mode::ready_to_commit).at(0).value();
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
  const auto rows = store_with([&] { others_.read(std::array{key_}, read_mode::ready_to_commit); });
  EXPECT_EQ(acquire(*rows).status, acquire_status::granted);
  EXPECT_TRUE(row().is_live());
}

}  // namespace
}  // namespace rowlock::tests
