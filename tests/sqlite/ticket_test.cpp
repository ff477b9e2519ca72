// The queue of the writers of a file.
#include <grp.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "rowlock/sqlite.hpp"
#include "sqlite/file_access.hpp"
#include "sqlite/sqlite_files.hpp"
#include "sqlite/sqlite_queue.hpp"
#include "support/child_process.hpp"
#include "support/forked_child.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

class SqliteTicket : public migrated_sqlite_test {
 protected:
  void await_arrivals(std::uint64_t count) const {
    await_that([&] { return queue_.arrivals() >= count; });
  }

  [[nodiscard]] std::unique_ptr<sqlite_store> patient_store() const {
    return std::make_unique<sqlite_store>(path(), sqlite_options{.turn_timeout = 1h});
  }

  void renew(store& rows, const acquire_answer& granted) const {
    rows.renew(std::array{renew_request{key_, mine_, granted.version.value(), 1h}});
  }

  const sqlite_queue queue_{path()};
};

TEST_F(SqliteTicket, ServesThoseWhoWaitInTheOrderInWhichTheyCame) {
  const auto database = open();
  std::optional<sqlite_transaction> first{std::in_place, *database};
  const auto before = queue_.arrivals();

  std::mutex mutex;
  std::vector<int> served;
  std::vector<std::jthread> waiting;
  for (int i = 0; i < 8; ++i) {
    waiting.emplace_back([&, i] {
      const auto mine = open();
      sqlite_transaction work{*mine, 1h};
      const std::scoped_lock lock{mutex};
      served.push_back(i);
      work.commit();
    });
    await_arrivals(before + static_cast<std::uint64_t>(i) + 1);
  }
  first.reset();
  waiting.clear();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(SqliteTicket, IsForTheWritesOfAStoreToo) {
  patient_store()->read(std::array{other_key_}, read_mode::ready_to_commit);
  acquire_answer granted;
  const auto joins = [&](const auto& work) {
    sqlite_store rows{path(), {.turn_timeout = 5ms}};  // one that had no turn
    return queue_.is_joined_by([&] { work(rows); });
  };
  EXPECT_TRUE(joins([&](store& rows) { granted = acquire(rows); }));
  EXPECT_TRUE(joins([&](store& rows) { renew(rows, granted); }));
  EXPECT_TRUE(joins([&](store& rows) {
    rows.release(std::array{release_request{key_, mine_, *granted.version}});
  }));
  EXPECT_TRUE(joins([](store& rows) {
    rows.read(std::array{lock_key{"invoice", "44"}}, read_mode::ready_to_commit);
  }));
}

/// Writes a row as a store does.
void write(SQLite::Database& database, const lock_key& key,
           sqlite::busy_wait::clock::time_point& turn_end) {
  const table_name table;
  sqlite::row_statements rows{database.getHandle(), table};
  sqlite::busy_wait wait{5ms};
  sqlite::file_access file{database.getHandle(), rows, wait, turn_end};
  EXPECT_TRUE(file.try_write(1, [&](sqlite::row_statements& of) { of.prepare(key); }));
}

TEST_F(SqliteTicket, IsGoodForAllWritesUntilTheTurnEnds) {
  acquire(*patient_store());
  const auto database = open();
  auto turn_end = sqlite::busy_wait::clock::time_point::max();
  const auto at_first = turn_end;
  EXPECT_FALSE(queue_.is_joined_by([&] { write(*database, other_key_, turn_end); }));
  EXPECT_EQ(turn_end, at_first);
}

TEST_F(SqliteTicket, IsNeededAfterTheTurnAndBeginsAnother) {
  acquire(*patient_store());
  const auto database = open();
  sqlite::busy_wait::clock::time_point turn_end;
  const auto at_first = turn_end;
  EXPECT_TRUE(queue_.is_joined_by([&] { write(*database, other_key_, turn_end); }));
  EXPECT_NE(turn_end, at_first);
}

TEST_F(SqliteTicket, IsNotWrittenByThoseWhoMeetNobody) {
  const auto rows = patient_store();
  const auto granted = acquire(*rows);
  const auto before = std::filesystem::last_write_time(queue_.path());
  rows->renew(std::array{renew_request{key_, mine_, *granted.version, 1h}});
  rows->release(std::array{release_request{key_, mine_, *granted.version}});
  EXPECT_EQ(std::filesystem::last_write_time(queue_.path()), before);
}

TEST_F(SqliteTicket, IsNotForThoseWhoOnlyLook) {
  const auto rows = patient_store();
  acquire(*rows);
  const auto database = open();
  const sqlite_transaction in_the_way{*database};
  const auto before = queue_.arrivals();
  auto theirs = request(key_);
  theirs.owner = make_owner_id();
  EXPECT_EQ(rows->acquire(std::array{theirs}).front().status, acquire_status::held);
  EXPECT_EQ(rows->list().size(), 1U);
  EXPECT_TRUE(rows->read(std::array{key_}, read_mode::ready_to_commit).front()->owned);
  EXPECT_EQ(queue_.arrivals(), before);
}

TEST_F(SqliteTicket, EndsWithTheTransactionNotWithTheObject) {
  const auto database = open();
  sqlite_transaction work{*database};
  work.commit();
  EXPECT_EQ(acquire(*patient_store()).status, acquire_status::granted);
}

TEST_F(SqliteTicket, IsLeftByWhoHasWaitedTooLong) {
  const auto database = open();
  std::optional<sqlite_transaction> first{std::in_place, *database};
  sqlite_store impatient{path(), {.turn_timeout = 5ms}};
  EXPECT_EQ(acquire(impatient).status, acquire_status::busy);
  first.reset();
  EXPECT_EQ(acquire(*patient_store()).status, acquire_status::granted);
}

TEST_F(SqliteTicket, IsNotKeptByAProcessThatWasKilled) {
  child_process killed{{ROWLOCK_SQLITE_WRITER, path(), "keep"}};
  ASSERT_EQ(killed.read_line(), "ready") << killed.errors();
  const auto before = queue_.arrivals();
  auto next = std::async(std::launch::async, [this] { return acquire(*patient_store()).status; });
  await_arrivals(before + 1);
  killed.send_signal(SIGKILL);
  EXPECT_EQ(next.get(), acquire_status::granted);
}

TEST_F(SqliteTicket, ThatIsStuckCostsTimeButNeverTheLock) {
  acquire(*patient_store());
  const auto blocker = queue_.in_front();
  sqlite_store rows{path(), {.turn_timeout = 5ms}};
  EXPECT_EQ(rows.acquire(std::array{request(other_key_)}).front().status, acquire_status::granted);
}

TEST_F(SqliteTicket, ThatSomebodyKeepsForEverCostsTimeButNeverTheLock) {
  acquire(*patient_store());
  const auto blocker = queue_.everywhere();
  sqlite_store rows{path(), {.turn_timeout = 5ms}};
  EXPECT_EQ(rows.acquire(std::array{request(other_key_)}).front().status, acquire_status::granted);
}

TEST_F(SqliteTicket, ThatWasTruncatedServesThoseWhoWaitAndThoseWhoCome) {
  const auto database = open();
  std::optional<sqlite_transaction> first{std::in_place, *database};
  const auto before = queue_.arrivals();
  auto next = std::async(std::launch::async, [this] { return acquire(*patient_store()).status; });
  await_arrivals(before + 1);
  std::filesystem::resize_file(queue_.path(), 0);
  first.reset();
  EXPECT_EQ(next.get(), acquire_status::granted);
  EXPECT_EQ(patient_store()->acquire(std::array{request(other_key_)}).front().status,
            acquire_status::granted);
}

TEST_F(SqliteTicket, ThatIsFullOfGarbageServesEverybody) {
  const auto rows = patient_store();
  for (const char garbage : {'\0', '\x3F', '\x7F', '\x80', '\xFF'}) {
    std::ofstream{queue_.path(), std::ios::binary} << std::string(10'000, garbage);
    for (int i = 0; i < 3; ++i) {
      const auto granted = acquire(*rows);
      ASSERT_EQ(granted.status, acquire_status::granted);
      rows->release(std::array{release_request{key_, mine_, *granted.version}});
    }
  }
}

TEST_F(SqliteTicket, HasThePermissionsOfTheDatabase) {
  std::filesystem::remove(queue_.path());
  chmod(path().c_str(), 0664);
  acquire(*patient_store());
  EXPECT_EQ(std::filesystem::status(queue_.path()).permissions(), std::filesystem::perms{0664});
}

TEST_F(SqliteTicket, OfTwoUsersInTheGroupOfTheDatabaseServesBoth) {
  constexpr gid_t group = 50'001;
  constexpr uid_t owner = 40'001;
  constexpr uid_t other = 40'002;
  ASSERT_EQ(chown(path("").c_str(), owner, group), 0);
  ASSERT_EQ(chmod(path("").c_str(), 0775), 0);
  ASSERT_EQ(chown(path().c_str(), owner, group), 0);
  ASSERT_EQ(chmod(path().c_str(), 0664), 0);
  std::filesystem::remove(queue_.path());
  for (const uid_t user : {other, owner}) {
    const auto wrong = complaints_of_child([&](std::vector<std::string>& said) {
      // Each is in a group of its own, and in that of the database.
      if (setgroups(1, &group) != 0 || setgid(user) != 0 || setuid(user) != 0) {
        said.emplace_back("it stayed root");
        return;
      }
      sqlite_store rows{path()};
      const auto answer = rows.acquire(std::array{request({"user", std::to_string(user)})});
      if (answer.front().status != acquire_status::granted) said.emplace_back("not granted");
    });
    EXPECT_EQ(wrong, std::vector<std::string>{}) << user;
  }
}

TEST_F(SqliteTicket, ThatCannotBeMadeIsUnavailableAndSaysWhatToDo) {
  sqlite_store owners{path()};
  acquire(owners);  // keeps its -wal and -shm, which are all that SQLite needs
  std::filesystem::remove(queue_.path());
  for (const auto& file : std::filesystem::directory_iterator{path("")}) {
    chmod(file.path().c_str(), 0666);
  }
  chmod(path("").c_str(), 0555);
  {
    setfsuid(65534);  // not root, for this thread
    sqlite_store rows{path()};
    const auto thrown = error_of([&] { rows.acquire(std::array{request(other_key_)}); });
    setfsuid(geteuid());
    EXPECT_EQ(thrown.kind(), errc::unavailable);
    EXPECT_TRUE(says(thrown, queue_.path()));
    EXPECT_TRUE(says(thrown, "permission to read and write it and its folder"));
  }
  chmod(path("").c_str(), 0755);
}

TEST_F(SqliteTicket, IsNotNeededInMemory) {
  SQLite::Database database{":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
  sqlite_transaction work{database};
  EXPECT_NO_THROW(work.commit());
}

}  // namespace
}  // namespace rowlock::tests
