// SQLite files on a disk that is full.
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

ssize_t write_nothing(int /*file*/, const void* /*bytes*/, size_t /*size*/, off_t /*where*/) {
  errno = ENOSPC;
  return -1;
}

/// SQLite's own way to let system calls fail: none of this process writes, for as long as it lives.
class full_disk {
 public:
  full_disk() {
    for (const auto* name : names) {
      before_.push_back(vfs_->xGetSystemCall(vfs_, name));
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): so it wants them
      vfs_->xSetSystemCall(vfs_, name, reinterpret_cast<sqlite3_syscall_ptr>(&write_nothing));
    }
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;
  ~full_disk() {
    for (std::size_t i = 0; i < names.size(); ++i) {
      vfs_->xSetSystemCall(vfs_, names.at(i), before_.at(i));
    }
  }

 private:
  static constexpr std::array names{"pwrite", "pwrite64"};

  sqlite3_vfs* vfs_ = sqlite3_vfs_find("unix");
  std::vector<sqlite3_syscall_ptr> before_;
};

class SqliteFullDisk : public migrated_sqlite_test {
 protected:
  static void expect_full(const std::function<void()>& work) {
    const auto thrown = error_of(work);
    EXPECT_EQ(thrown.kind(), errc::unavailable);
    EXPECT_TRUE(says(thrown, "the disk is full: free some space"));
  }
};

// SQLite makes the file for the shared memory of WAL, and calls what becomes of it an error of
// input or output.
TEST_F(SqliteFullDisk, IsToldWhereTheFileCannotBeOpened) {
  sqlite_store rows{path()};
  {
    const full_disk now;
    expect_full([&] { acquire(rows); });
    expect_full([&] { rows.list(); });
  }
  EXPECT_EQ(acquire(rows).status, acquire_status::granted);
}

TEST_F(SqliteFullDisk, IsToldWhereTheFileCannotGrow) {
  sqlite_store rows{path()};
  acquire(rows);
  {
    const full_disk now;
    expect_full([&] { rows.acquire(std::array{request(other_key_)}); });
  }
  EXPECT_EQ(rows.acquire(std::array{request(other_key_)}).at(0).status, acquire_status::granted);
}

TEST_F(SqliteFullDisk, IsToldByAMigration) {
  const full_disk now;
  expect_full([&] { migrate_sqlite(path("another.db")); });
}

}  // namespace
}  // namespace rowlock::tests
