// What only the SQLite store can do: the one place for a writer that a file has, and its
// connection.
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sqlite/acquire.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

class SqliteStore : public migrated_sqlite_test {};

TEST_F(SqliteStore, WorksInWalModeAndSyncsEveryCommit) {
  SQLite::Database* opened = nullptr;
  sqlite_store rows{[&] {
    auto database = open();
    opened = database.get();
    return database;
  }};
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
  EXPECT_EQ(opened->execAndGet("PRAGMA journal_mode").getString(), "wal");
  EXPECT_EQ(opened->execAndGet("PRAGMA synchronous").getInt(), 2);
}

TEST_F(SqliteStore, PurgesAllRowsButThoseThatAnotherTableRefersTo) {
  for (const std::string checked : {"", " deferrable initially deferred"}) {
    sqlite_store rows{path()};
    std::vector<lock_key> keys;
    for (int i = 10; i < 30; ++i) keys.push_back({"job", std::to_string(i)});
    rows.read(keys, read_mode::ready_to_commit);
    auto other = open();
    other->exec(
        "update shared_lock set version = 1; drop table if exists child;"
        "create table child (lock_type text, source_id text, foreign key (lock_type, source_id) "
        "references shared_lock (lock_type, source_id)" +
        checked + "); insert into child values ('job', '13'), ('job', '27')");
    const auto answer = rows.purge({.older_than = 1h});
    EXPECT_EQ(answer.purged, 18U) << checked;
    EXPECT_EQ(answer.refused, (std::vector<lock_key>{{"job", "13"}, {"job", "27"}})) << checked;
    EXPECT_EQ(other->execAndGet("select count(*) from shared_lock").getInt(), 2) << checked;
  }
}

TEST_F(SqliteStore, WritesNothingForARefusal) {
  sqlite_store rows{path()};
  const lock_key third{"job", "3"};
  rows.read(std::array{other_key_, third}, read_mode::ready_to_commit);
  const auto granted = acquire(rows).version.value();
  auto once = request(third);
  const auto by = rows.acquire(std::array{once}).at(0).version.value();
  rows.release(std::array{
      release_request{.key = third, .owner = once.owner, .version = by, .done_for = 1h}});
  const auto log = path() + "-wal";
  const auto size = std::filesystem::file_size(log);

  once.unless_done = true;
  once.owner = make_owner_id();
  auto rival = request(key_);
  rival.owner = make_owner_id();
  auto beside = request(other_key_);
  beside.owner = rival.owner;
  EXPECT_EQ(rows.acquire(std::array{rival}).at(0).status, acquire_status::held);
  EXPECT_EQ(rows.acquire(std::array{once}).at(0).status, acquire_status::done);
  EXPECT_EQ(rows.acquire(std::array{beside, rival}, {acquire_mode::all_or_none}).at(1).status,
            acquire_status::held);
  EXPECT_EQ(rows.acquire(std::array{rival}, {acquire_mode::any, 1}).at(0).status,
            acquire_status::withheld);
  EXPECT_EQ(rows.write_note({key_, rival.owner, granted, "n"}), change_answer::lost);
  EXPECT_EQ(rows.force_release({key_, version{1}, "a test"}), force_answer::stale);
  EXPECT_EQ(rows.purge({.older_than = 1h}).purged, 0U);
  EXPECT_EQ(std::filesystem::file_size(log), size);
}

TEST_F(SqliteStore, GrantsNothingOfASetAndPurgesNothingWhileAnotherWrites) {
  sqlite_store rows{path(), {.turn_timeout = 20ms}};
  rows.read(std::array{key_, other_key_}, read_mode::ready_to_commit);
  open()->exec("UPDATE shared_lock SET version = 1");
  const auto held = request(key_);
  {
    const auto rival = rival_writer();
    for (const auto& answer :
         rows.acquire(std::array{held, request(other_key_)}, {acquire_mode::all_or_none})) {
      EXPECT_EQ(answer.status, acquire_status::busy);
    }
    EXPECT_EQ(rows.acquire(std::array{held}, {acquire_mode::any, 1}).at(0).status,
              acquire_status::busy);
    const auto purged = rows.purge({.older_than = 1h, .limit = 1});
    EXPECT_EQ(purged.purged, 0U);
    EXPECT_EQ(purged.last, key_);
  }
  const auto granted = rows.acquire(std::array{held}).at(0).version.value();
  const auto rival = rival_writer();
  EXPECT_EQ(rows.write_note({key_, held.owner, granted, "n"}), change_answer::busy);
  EXPECT_EQ(rows.force_release({key_, granted, "a test"}), force_answer::busy);
}

TEST_F(SqliteStore, WritesTimesThatCanBeRead) {
  sqlite_store rows{path()};
  acquire(rows);
  EXPECT_EQ(text_of("SELECT abs(julianday(acquired_at) - julianday('now')) * 86400 < 60 FROM "
                    "shared_lock"),
            "1");
  EXPECT_EQ(text_of("SELECT round((julianday(expires_at) - julianday(acquired_at)) * 24, 3) FROM "
                    "shared_lock"),
            "1.0");
  EXPECT_EQ(rows.read(std::array{key_}).at(0)->acquired_at,
            text_of("SELECT acquired_at FROM shared_lock") + "000");
}

TEST_F(SqliteStore, CountsVersionsInMicrosecondsOfTheClock) {
  sqlite_store rows{path()};
  const std::chrono::microseconds granted{acquire(rows).version.value().number};
  EXPECT_EQ(std::chrono::round<std::chrono::hours>(
                granted - std::chrono::system_clock::now().time_since_epoch()),
            0h);
}

TEST_F(SqliteStore, MovesVersionsToTheClockOrJustPastTheLastOne) {
  sqlite_store rows{path()};
  const auto set = [&](std::int64_t number) {
    rows.read(std::array{key_}, read_mode::ready_to_commit);
    open()->exec("UPDATE shared_lock SET version = " + std::to_string(number));
  };
  const auto move = [&] {
    const auto granted = acquire(rows).version.value();
    rows.release(std::array{release_request{key_, mine_, granted}});
    return std::pair{granted.number, rows.read(std::array{key_}).at(0)->version.number};
  };
  constexpr std::int64_t in_2200 = 7'258'118'400'000'000;
  constexpr std::int64_t in_2020 = 1'577'836'800'000'000;
  set(in_2200);
  EXPECT_EQ(move(), std::pair(in_2200 + 1, in_2200 + 2));
  set(1);
  EXPECT_GT(move().first, in_2020);
}

TEST_F(SqliteStore, KeepsTheTimeOfAGrantThatIsAskedForAgainAtAVersion) {
  sqlite_store rows{path()};
  auto wanted = request(key_);
  wanted.expected = rows.read(std::array{key_}, read_mode::ready_to_commit).at(0)->version;
  rows.acquire(std::array{wanted});
  open()->exec("UPDATE shared_lock SET acquired_at = '2026-01-31 12:00:00.000'");
  EXPECT_EQ(rows.acquire(std::array{wanted}).at(0).status, acquire_status::granted);
  EXPECT_EQ(text_of("SELECT acquired_at FROM shared_lock"), "2026-01-31 12:00:00.000");
}

TEST_F(SqliteStore, WorksOnATableOfAnotherNameBesideTheFirst) {
  const table_name longest{"main." + std::string(56, 'L')};
  migrate_sqlite(path(), longest);
  sqlite_store first{path()};
  sqlite_store second{path(), {.table = longest}};
  EXPECT_EQ(acquire(first).status, acquire_status::granted);
  EXPECT_TRUE(second.list().empty());
  EXPECT_EQ(acquire(second).status, acquire_status::granted);
}

TEST_F(SqliteStore, RefusesWhatNeedsAWriteAsBusyWhileAnotherWritesForLongerThanItsPatience) {
  sqlite_store rows{path(), {.turn_timeout = 5ms}};
  const auto granted = acquire(rows).version.value();
  const auto rival = rival_writer();
  const auto answers = rows.acquire(std::array{request(other_key_), request(key_)});
  EXPECT_EQ(answers.at(0).status, acquire_status::busy);
  EXPECT_EQ(answers.at(1).status, acquire_status::busy);
  EXPECT_EQ(answers.at(1).version, granted);
  EXPECT_EQ(rows.renew(std::array{renew_request{key_, mine_, granted, 1h}}).at(0),
            change_answer::busy);
  EXPECT_EQ(rows.release(std::array{release_request{key_, mine_, granted}}).at(0),
            change_answer::busy);
  EXPECT_EQ(rows.read(std::array{other_key_}, read_mode::ready_to_commit).at(0), std::nullopt);
}

TEST_F(SqliteStore, IsGrantedItsTurnWithinItsPatience) {
  sqlite_store rows{path(), {.turn_timeout = 1h}};
  acquire(rows);
  auto rival = rival_writer();
  std::jthread acquiring{[&] {
    EXPECT_EQ(rows.acquire(std::array{request(other_key_)}).at(0).status, acquire_status::granted);
  }};
  rival.reset();
}

TEST_F(SqliteStore, AnswersWithoutAWriteWhileAnotherWrites) {
  sqlite_store rows{path(), {.turn_timeout = 1h}};  // would hang, if it waited
  const auto granted = acquire(rows).version.value();
  const auto rival = rival_writer();
  auto theirs = request(key_);
  theirs.owner = make_owner_id();
  EXPECT_EQ(rows.acquire(std::array{theirs}).at(0).status, acquire_status::held);
  theirs.expected = version{granted.number - 1};
  EXPECT_EQ(rows.acquire(std::array{theirs}).at(0).status, acquire_status::stale);
  EXPECT_TRUE(rows.read(std::array{key_}, read_mode::ready_to_commit).at(0)->is_live());
  EXPECT_EQ(rows.list().size(), 1U);
}

TEST_F(SqliteStore, LeavesNothingBehindWhenACommitWasBusy) {
  open()->exec("PRAGMA journal_mode = DELETE");  // there, readers are in the way of a commit
  sqlite_store rows{[this] { return open(); }, {.turn_timeout = 5ms}};
  rows.list();
  const auto reader = open();
  reader->exec("BEGIN");
  EXPECT_EQ(reader->execAndGet("SELECT count(*) FROM shared_lock").getInt(), 0);

  const std::array both{request(key_), request(other_key_)};
  for (const auto& answer : rows.acquire(both)) EXPECT_EQ(answer.status, acquire_status::busy);
  EXPECT_EQ(acquire(rows).status, acquire_status::busy);
  reader->exec("COMMIT");
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock"), "0");
  for (const auto& answer : rows.acquire(both)) EXPECT_EQ(answer.status, acquire_status::granted);
}

TEST_F(SqliteStore, DoesNotKnowTheOutcomeWhenTheDiskFailsAndOpensTheFileAgain) {
  sqlite_store rows{path()};
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (const auto& wanted : {std::vector{request(other_key_)},
                             std::vector{request(other_key_), request({"invoice", "44"})}}) {
    acquire(rows);
    const rlimit full{.rlim_cur = std::filesystem::file_size(path("locks.db-wal")),
                      .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    const auto thrown = error_of([&] { rows.acquire(wanted); });
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(thrown.kind(), errc::outcome_unknown) << thrown.what();
  }
  EXPECT_EQ(rows.acquire(std::array{request(other_key_)}).at(0).status, acquire_status::granted);
}

TEST_F(SqliteStore, TakesItsConnectionFromAFactoryAndAnotherAfterAnError) {
  int made = 0;
  sqlite_store rows{[&] {
    ++made;
    return open();
  }};
  EXPECT_EQ(made, 0);
  acquire(rows);
  acquire(rows);
  EXPECT_EQ(made, 1);
  open()->exec(sqlite_migrations().front().down);
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::rejected);
  migrate_sqlite(path());
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
  EXPECT_EQ(made, 2);
}

TEST_F(SqliteStore, OnAReadOnlyConnectionOfTheApplicationIsUnavailable) {
  sqlite_store rows{
      [this] { return std::make_unique<SQLite::Database>(path(), SQLite::OPEN_READONLY); }};
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::unavailable);
}

TEST_F(SqliteStore, OnAFactoryThatMakesNothingIsMisuse) {
  sqlite_store rows{[] { return std::unique_ptr<SQLite::Database>{}; }};
  EXPECT_EQ(error_of([&] { acquire(rows); }).kind(), errc::misuse);
}

TEST_F(SqliteStore, LetsAnExceptionOfTheFactoryThroughAndAsksItAgain) {
  bool is_first = true;
  sqlite_store rows{[&] {
    if (std::exchange(is_first, false)) throw std::range_error{"no key"};
    return open();
  }};
  EXPECT_THROW(acquire(rows), std::range_error);
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
}

TEST_F(SqliteStore, RefusesAsBusyWhileAThreadKeepsTheConnectionForLongerThanItsPatience) {
  std::promise<void> is_opening;
  std::promise<void> may_open;
  sqlite_store rows{[&] {
                      is_opening.set_value();
                      may_open.get_future().wait();
                      return open();
                    },
                    {.turn_timeout = 5ms}};
  std::jthread first{[&] { acquire(rows); }};
  is_opening.get_future().wait();
  EXPECT_EQ(acquire(rows).status, acquire_status::busy);
  EXPECT_EQ(rows.acquire(std::array{request(key_)}, {acquire_mode::any, 1}).at(0).status,
            acquire_status::busy);
  EXPECT_EQ(error_of([&] { rows.list(); }).kind(), errc::unavailable);
  may_open.set_value();
}

// Another connection has the file to itself. (A store meets that in its first read mostly.)
TEST_F(SqliteStore, AnswersBusyToSetsOfAFileThatIsNotReadInTime) {
  const auto rival = open();
  rival->exec("PRAGMA locking_mode = EXCLUSIVE");
  rival->exec("BEGIN IMMEDIATE");
  const auto database = open();
  const table_name table;
  sqlite::row_statements statements{database->getHandle(), table};
  sqlite::busy_wait wait{0ms};
  sqlite::busy_wait::clock::time_point turn_end;
  sqlite::file_access file{database->getHandle(), statements, wait, turn_end};
  const std::array wanted{request(key_)};
  EXPECT_EQ(sqlite::acquire_any(file, wanted, 1).at(0).status, acquire_status::busy);
  EXPECT_EQ(sqlite::acquire_all(file, wanted).at(0).status, acquire_status::busy);
}

}  // namespace
}  // namespace rowlock::tests
