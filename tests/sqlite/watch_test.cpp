// Hints of writes by other processes to a SQLite file.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

#include "rowlock/lock_table.hpp"
#include "rowlock/soci_store.hpp"
#include "rowlock/sqlite.hpp"
#include "soci/soci_sqlite_files.hpp"
#include "support/patience.hpp"
#include "support/watched_store.hpp"

namespace rowlock::tests {
namespace {

/// Counts the hints.
class hint_counter final : public release_listener {
 public:
  void released(const lock_key& /*key*/) noexcept override {}
  void listening() noexcept override {}
  bool changed() noexcept override {
    ++hints_;
    return true;
  }

  void await(int hints) const {
    await_that([&] { return hints_ >= hints; });
  }

 private:
  std::atomic<int> hints_{0};
};

class SqliteWatch : public migrated_soci_sqlite_test {
 protected:
  /// Another program opens the file, writes, and closes it.
  void let_another_process_write() const {
    const auto command =
        std::string{ROWLOCK_SQLITE_WRITER} + " '" + path() + "' leases 1 </dev/null >/dev/null";
    if (std::system(command.c_str()) != 0) throw std::runtime_error{"the writer failed"};
  }

  /// Whether a waiter of `rows` gets the key by a hint: its first read without one comes after an
  /// hour.
  void expect_woken(store& rows) {
    auto held = theirs_.try_acquire(key_);
    watched_store watched{rows};
    std::future<outcome<lease>> waiting;  // the end of the lock_table ends it, where no hint came
    lock_table ours{watched, {.ttl = 1h}};
    waiting = std::async(std::launch::async, [&] {
      return ours.try_acquire(key_, {.wait = retry_policy{.first_pause = 1h, .longest_pause = 1h}});
    });
    watched.await_refusals(1);
    // The first write that is noticed shows the waiter that the key is held.
    await_that([&] { return watched.refusals() > 1; },
               [&] { (void)theirs_.try_acquire(other_key_); });
    held->release();
    ASSERT_EQ(waiting.wait_for(patience), std::future_status::ready);
    EXPECT_TRUE(waiting.get().acquired());
  }

  sqlite_store their_rows_{path()};
  lock_table theirs_{their_rows_, {.ttl = 1h}};
};

TEST_F(SqliteWatch, HearsOfAWriteByAnotherProcess) {
  sqlite_store rows{path()};
  hint_counter hints;
  const auto listening = rows.listen(hints);
  ASSERT_NE(listening, nullptr);
  EXPECT_FALSE(listening->names_keys());
  let_another_process_write();
  hints.await(1);
}

TEST_F(SqliteWatch, HearsOfACommitWithoutAWriteAheadLog) {
  const auto journaled = open();
  journaled->exec("PRAGMA journal_mode = DELETE");
  sqlite_store rows{[&] { return open(); }};
  acquire(rows);
  hint_counter hints;
  const auto listening = rows.listen(hints);
  ASSERT_NE(listening, nullptr);
  journaled->exec("UPDATE shared_lock SET note = 'x'");
  hints.await(1);
}

// The write is noticed before its commit can be seen, by as long as the disk takes.
TEST_F(SqliteWatch, RepeatsTheHintOfAWriteWhileSomebodyWaits) {
  sqlite_store rows{path()};
  hint_counter hints;
  const auto listening = rows.listen(hints);
  (void)theirs_.try_acquire(key_);
  hints.await(6);
}

TEST_F(SqliteWatch, WakesAWaiterOfAStore) {
  sqlite_store rows{path()};
  expect_woken(rows);
}

TEST_F(SqliteWatch, WakesAWaiterOfAStoreOnAConnectionOfTheApplication) {
  sqlite_store rows{[&] { return open(); }};
  expect_woken(rows);
}

TEST_F(SqliteWatch, WakesAWaiterThatNamesTheFileByALink) {
  std::filesystem::create_directory(path("elsewhere"));
  std::filesystem::create_symlink(path(), path("elsewhere/link.db"));
  sqlite_store rows{path("elsewhere/link.db")};
  expect_woken(rows);
}

TEST_F(SqliteWatch, WakesAWaiterThroughSoci) {
  soci_store rows{url()};
  expect_woken(rows);
}

TEST_F(SqliteWatch, WakesAWaiterOnAPoolOfSoci) {
  const auto pool = pool_on(path());
  soci_store rows{*pool};
  expect_woken(rows);
}

TEST_F(SqliteWatch, IsNoneWithoutAFileDescriptor) {
  sqlite_store rows{path()};
  acquire(rows);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  hint_counter hints;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto listening = rows.listen(hints);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(listening, nullptr);
}

}  // namespace
}  // namespace rowlock::tests
