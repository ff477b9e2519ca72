// SQLite files that a process may read, and not write.
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "rowlock/operators.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {
namespace {

class SqliteReadOnly : public sqlite_test {};

/// The privileges of a user other than root, for this thread.
class unprivileged {
 public:
  unprivileged() { setfsuid(65534); }
  unprivileged(const unprivileged&) = delete;
  unprivileged& operator=(const unprivileged&) = delete;
  ~unprivileged() { setfsuid(geteuid()); }
};

TEST_F(SqliteReadOnly, OnAReadOnlyFileIsUnavailableAlsoForAKeyThatIsHeld) {
  migrate_sqlite(path());
  sqlite_store others{path()};
  acquire(others);
  chmod(path("").c_str(), 0777);
  for (const auto& file : std::filesystem::directory_iterator{path("")}) {
    chmod(file.path().c_str(), 0444);
  }
  const unprivileged now;
  sqlite_store rows{path()};
  const acquire_request theirs{
      .key = key_, .owner = make_owner_id(), .holder = "host:2", .ttl = 1h};
  const auto thrown = error_of([&] { rows.acquire(std::array{theirs}); });
  EXPECT_EQ(thrown.kind(), errc::unavailable);
  EXPECT_TRUE(says(thrown, "write permission"));
}

TEST_F(SqliteReadOnly, InAReadOnlyFolderIsUnavailable) {
  migrate_sqlite(path());
  chmod(path().c_str(), 0666);
  chmod(path("").c_str(), 0555);
  {
    const unprivileged now;
    sqlite_store rows{path()};
    const auto thrown = error_of([&] { acquire(rows); });
    EXPECT_EQ(thrown.kind(), errc::unavailable);
    EXPECT_TRUE(says(thrown, "folder"));
  }
  chmod(path("").c_str(), 0755);
}

class SqliteListed : public migrated_sqlite_test {
 protected:
  /// As for a user that may write neither the file nor, with 0555, its folder.
  void make_unwritable(mode_t folder) const {
    for (const auto& file : std::filesystem::directory_iterator{path("")}) {
      chmod(file.path().c_str(), 0444);
    }
    chmod(path("").c_str(), folder);
  }
  void expect_one_held() const {
    sqlite_store rows{path()};
    for (int times = 0; times < 2; ++times) {
      const auto listed = rows.list();
      ASSERT_EQ(listed.size(), 1U);
      EXPECT_EQ(listed.front().key, key_);
      EXPECT_TRUE(show(rows, key_).value().is_live());
    }
  }
  [[nodiscard]] long files() const {
    return std::distance(std::filesystem::directory_iterator{path("")},
                         std::filesystem::directory_iterator{});
  }
};

TEST_F(SqliteListed, WithoutAWriterInAFolderThatCannotBeWritten) {
  {
    sqlite_store rows{path()};
    acquire(rows);
  }
  make_unwritable(0555);
  {
    const unprivileged now;
    expect_one_held();
    sqlite_store rows{path()};
    const auto thrown = error_of([&] { acquire(rows); });
    EXPECT_EQ(thrown.kind(), errc::unavailable);
    EXPECT_TRUE(says(thrown, "write permission"));
  }
  chmod(path("").c_str(), 0755);
}

TEST_F(SqliteListed, WithoutAWriterLeavesNoFileBehindThatKeepsOthersFromWriting) {
  {
    sqlite_store rows{path()};
    acquire(rows);
  }
  make_unwritable(0777);
  const auto before = files();
  {
    const unprivileged now;
    expect_one_held();
  }
  EXPECT_EQ(files(), before);
}

TEST_F(SqliteListed, BesideAWriter) {
  sqlite_store others{path()};
  acquire(others);
  make_unwritable(0555);
  {
    const unprivileged now;
    expect_one_held();
  }
  chmod(path("").c_str(), 0755);
}

TEST_F(SqliteListed, SeesWhatWasWrittenSinceTheLastLook) {
  make_unwritable(0555);
  sqlite_store rows{path()};
  {
    const unprivileged now;
    EXPECT_TRUE(rows.list().empty());
  }
  chmod(path().c_str(), 0644);
  chmod(path("").c_str(), 0755);
  {
    sqlite_store others{path()};
    acquire(others);
  }
  make_unwritable(0555);
  {
    const unprivileged now;
    EXPECT_EQ(rows.list().size(), 1U);
  }
  chmod(path("").c_str(), 0755);
}

}  // namespace
}  // namespace rowlock::tests
