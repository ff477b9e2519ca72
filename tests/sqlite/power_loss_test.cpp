// What a SQLite file has after a power loss, as a release does not wait for the disk.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "rowlock/lock_table.hpp"
#include "sqlite/sqlite_files.hpp"
#include "support/patience.hpp"

namespace rowlock::tests {
namespace {

namespace fs = std::filesystem;

/// Copies the files of one folder whenever SQLite flushes them.
class disk {
 public:
  static disk& only() {
    static disk& made = *std::make_unique<disk>().release();  // files are flushed until the exit
    return made;
  }

  void copy_files_of(const fs::path& folder) {
    const std::scoped_lock lock{mutex_};
    folder_ = folder;
  }
  void note_flush(int file) {
    const std::scoped_lock lock{mutex_};
    if (folder_.empty()) return;
    const auto path = fs::read_symlink("/proc/self/fd/" + std::to_string(file));
    if (path.parent_path() != folder_ || !fs::is_regular_file(path)) return;
    fs::copy_file(path, as_flushed(path), fs::copy_options::overwrite_existing);
  }
  static fs::path as_flushed(const fs::path& path) { return path.string() + ".flushed"; }

 private:
  std::mutex mutex_;
  fs::path folder_;
};

}  // namespace
}  // namespace rowlock::tests

// Every library of this program calls this one in place of the C library's.
extern "C" int fdatasync(int file) {
  rowlock::tests::disk::only().note_flush(file);
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

namespace rowlock::tests {
namespace {

class SqlitePowerLoss : public sqlite_test {
 protected:
  SqlitePowerLoss() {
    disk::only().copy_files_of(fs::path{path()}.parent_path());
    migrate_sqlite(path(), {}, history_option::with);
  }
  ~SqlitePowerLoss() override { disk::only().copy_files_of({}); }

  release_request granted(const lock_key& key) {
    return {key, mine_, *rows_.acquire(std::array{request(key)}).front().version};
  }
  void release(const release_request& ended) {
    ASSERT_EQ(rows_.release(std::array{ended}).front(), change_answer::done);
  }

  /// The file as it is on the disk, in a folder of its own.
  [[nodiscard]] std::string after_a_power_loss() const {
    const fs::path on_disk = after_.path() / "locks.db";
    for (const std::string file : {"", "-wal"}) {
      const auto flushed = disk::as_flushed(path() + file);
      if (fs::exists(flushed)) fs::copy_file(flushed, on_disk.string() + file);
    }
    return on_disk;
  }
  [[nodiscard]] row_state row_after_a_power_loss() const { return row_after_a_power_loss(key_); }
  [[nodiscard]] row_state row_after_a_power_loss(const lock_key& key) const {
    return sqlite_store{after_a_power_loss()}.read(std::array{key}).front().value();
  }

 private:
  const temp_folder after_;

 protected:
  sqlite_store rows_{path()};
};

TEST_F(SqlitePowerLoss, LeavesAKeyHeldWhoseReleaseItUndid) {
  const auto ended = granted(key_);
  release(ended);
  const auto row = row_after_a_power_loss();
  EXPECT_TRUE(row.owned);
  EXPECT_EQ(row.version, ended.version);
}

TEST_F(SqlitePowerLoss, UndoesWhatTheReleaseHasCountedAndRecorded) {
  auto ended = granted(key_);
  ended.failed = true;
  release(ended);
  sqlite_store rows{after_a_power_loss()};
  EXPECT_EQ(rows.read(std::array{key_}).front()->failure_count, 0);
  const auto events = rows.history({}).events;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events.front().what, "granted");
}

TEST_F(SqlitePowerLoss, LeavesTheVersionOfAnUndoneReleaseStale) {
  release(granted(key_));
  const auto seen = rows_.read(std::array{key_}).front()->version;
  sqlite_store rows{after_a_power_loss()};
  // The clock of SQLite has milliseconds, and no machine comes back within one.
  await_that([&] {
    const auto other = *rows.acquire(std::array{request(other_key_)}).front().version;
    rows.release(std::array{release_request{other_key_, mine_, other}});
    return other > seen;
  });
  const auto lost = *rows.read(std::array{key_}).front();
  ASSERT_EQ(rows.force_release({key_, lost.version, "its holder is gone"}), force_answer::released);
  auto late = request(key_);
  late.owner = make_owner_id();
  late.expected = seen;
  EXPECT_EQ(rows.acquire(std::array{late}).front().status, acquire_status::stale);
}

TEST_F(SqlitePowerLoss, KeepsAReleaseBeforeAGrant) {
  release(granted(key_));
  granted(other_key_);
  EXPECT_FALSE(row_after_a_power_loss().owned);
}

TEST_F(SqlitePowerLoss, KeepsAGrantAfterARelease) {
  release(granted(other_key_));
  granted(key_);
  EXPECT_TRUE(row_after_a_power_loss().owned);
}

TEST_F(SqlitePowerLoss, KeepsAGrantAfterAReleaseThatFailed) {
  const auto ended = granted(key_);
  open()->exec(
      "CREATE TRIGGER app BEFORE UPDATE ON shared_lock WHEN new.owner IS NULL BEGIN SELECT "
      "RAISE(ABORT, 'not now'); END");
  EXPECT_THROW(rows_.release(std::array{ended}), error);
  granted(other_key_);
  EXPECT_TRUE(row_after_a_power_loss(other_key_).owned);
}

TEST_F(SqlitePowerLoss, KeepsAGrantAfterAReleaseThatWasBusy) {
  sqlite_store rows{path(), {.turn_timeout = 1ms}};
  const release_request ended{key_, mine_,
                              *rows.acquire(std::array{request(key_)}).front().version};
  {
    const auto rival = rival_writer();
    ASSERT_EQ(rows.release(std::array{ended}).front(), change_answer::busy);
  }
  await_that([&] {
    return rows.acquire(std::array{request(other_key_)}).front().status == acquire_status::granted;
  });
  EXPECT_TRUE(row_after_a_power_loss(other_key_).owned);
}

TEST_F(SqlitePowerLoss, KeepsAReleaseThatIsDurable) {
  auto ended = granted(key_);
  ended.durable = true;
  release(ended);
  EXPECT_FALSE(row_after_a_power_loss().owned);
}

TEST_F(SqlitePowerLoss, KeepsAReleaseThatSaysThatWorkIsDone) {
  auto ended = granted(key_);
  ended.done_for = 1h;
  release(ended);
  EXPECT_TRUE(row_after_a_power_loss().done);
}

TEST_F(SqlitePowerLoss, KeepsAReleaseThatKeepsTheKeyClosed) {
  auto ended = granted(key_);
  ended.stay_closed = 1h;
  release(ended);
  EXPECT_FALSE(row_after_a_power_loss().owned);
}

TEST_F(SqlitePowerLoss, KeepsSeveralReleasesOfWhichOneIsDurable) {
  const auto ended = granted(key_);
  auto durable = granted(other_key_);
  durable.durable = true;
  rows_.release(std::array{ended, durable});
  EXPECT_FALSE(row_after_a_power_loss().owned);
}

}  // namespace
}  // namespace rowlock::tests
