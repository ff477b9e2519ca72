// The checks of rowlock doctor on a store that misbehaves, and on a file that may not be written.
#include "cli/checkup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "rowlock/port/passing_store.hpp"
#include "rowlock/sqlite_store.hpp"
#include "rowlock/testing/memory_store.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;
using cli::check_status;
using cli::version_support;
using testing::HasSubstr;

/// Looks like a SQL store that is as it has to be, except for what a test sets.
class pretended_store final : public passing_store {
 public:
  pretended_store() : passing_store{rows_} {}

  inspection found{.product = "PostgreSQL",
                   .version = {15, 18},
                   .schema = 1,
                   .missing_rights = std::vector<inspection::missing_right>{}};
  std::chrono::microseconds clock_ahead{};
  acquire_status granted = acquire_status::granted;
  change_answer renewed = change_answer::done;
  change_answer released = change_answer::done;

 protected:
  inspection do_inspect() override { return found; }
  database_time do_now() override {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) +
           clock_ahead;
  }
  std::vector<acquire_answer> do_acquire(std::span<const acquire_request> requests,
                                         acquire_mode mode) override {
    if (granted != acquire_status::granted) return {{granted}};
    return passing_store::do_acquire(requests, mode);
  }
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    (void)passing_store::do_renew(requests);
    return {renewed};
  }
  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    (void)passing_store::do_release(requests);
    return {released};
  }

 private:
  memory_store rows_;
};

std::map<std::string, cli::finding> checked(store& rows, std::chrono::seconds limit = 60s) {
  std::map<std::string, cli::finding> all;
  cli::check_database(
      rows, "shared_lock", 1, limit,
      [&](const std::string& name, const cli::finding& found) { all[name] = found; });
  return all;
}

TEST(CheckupTest, OfAStoreThatIsAsItHasToBeFindsNothing) {
  pretended_store rows;
  for (const auto& [name, found] : checked(rows)) EXPECT_EQ(found.status, check_status::ok) << name;
}

TEST(CheckupTest, WarnsOfFewerConnectionsThanAStoreWithDefaultsUses) {
  pretended_store rows;
  rows.found.connection_limit = 5;
  EXPECT_EQ(checked(rows).at("connection").status, check_status::ok);
  rows.found.connection_limit = 4;
  const auto found = checked(rows).at("connection");
  EXPECT_EQ(found.status, check_status::warning);
  EXPECT_THAT(found.detail, HasSubstr("may have 4 at once"));
  EXPECT_EQ(found.values.at("limit"), 4);
}

TEST(CheckupTest, WarnsOfAClockThatIsWrong) {
  pretended_store rows;
  for (const auto ahead : {-1h, 1h}) {
    rows.clock_ahead = ahead;
    EXPECT_EQ(checked(rows).at("clock").status, check_status::warning);
  }
}

TEST(CheckupTest, WarnsOfAClockBeyondTheMarginOfALeaseAndTheUncertainty) {
  const auto status_of = [](std::chrono::microseconds took, std::chrono::microseconds ahead,
                            std::chrono::milliseconds resolution) {
    return cli::clock_finding_of({.took = took, .ahead = ahead}, resolution).status;
  };
  for (const int side : {-1, 1}) {
    EXPECT_EQ(status_of(0us, side * 200'000us, 0ms), check_status::ok);
    EXPECT_EQ(status_of(0us, side * 200'001us, 0ms), check_status::warning);
    EXPECT_EQ(status_of(2'000us, side * 203'000us, 2ms), check_status::ok);
    EXPECT_EQ(status_of(2'000us, side * 203'001us, 2ms), check_status::warning);
  }
}

TEST(CheckupTest, FailsIfALeaseIsNotGrantedRenewedOrReleased) {
  pretended_store rows;
  rows.granted = acquire_status::busy;
  EXPECT_THAT(checked(rows).at("lease").detail, HasSubstr("refused"));
  rows.granted = acquire_status::granted;
  rows.renewed = change_answer::lost;
  EXPECT_THAT(checked(rows).at("lease").detail, HasSubstr("not renewed"));
  rows.renewed = change_answer::done;
  rows.released = change_answer::busy;
  EXPECT_THAT(checked(rows).at("lease").detail, HasSubstr("not released"));
  EXPECT_EQ(checked(rows).at("lease").status, check_status::failed);
}

TEST(CheckupTest, SkipsWhatIsLeftWhenTheTimeIsOver) {
  pretended_store rows;
  const auto all = checked(rows, -1s);
  for (const auto& [name, found] : all) EXPECT_EQ(found.status, check_status::skipped) << name;
  EXPECT_EQ(all.size(), 15U);
}

TEST(CheckupTest, WithoutKnownRightsSkipsTheChecksOfThem) {
  pretended_store rows;
  rows.found.missing_rights.reset();
  EXPECT_EQ(checked(rows).at("lock_privileges").status, check_status::skipped);
  EXPECT_EQ(checked(rows).at("lease").status, check_status::ok);
}

TEST(CheckupTest, FailsOnASqliteThatIsTooOld) {
  pretended_store rows;
  rows.found.product = "SQLite";
  rows.found.version = {3, 36, 0};
  EXPECT_EQ(checked(rows).at("server").status, check_status::failed);
}

TEST(KnownVersionsTest, AreThoseOfTheDocument) {
  using cli::support_of;
  EXPECT_EQ(support_of("PostgreSQL", {13, 20}), version_support::not_run);
  EXPECT_EQ(support_of("PostgreSQL", {14, 0}), version_support::known);
  EXPECT_EQ(support_of("PostgreSQL", {18, 4}), version_support::known);
  EXPECT_EQ(support_of("PostgreSQL", {19, 0}), version_support::not_run);
  EXPECT_EQ(support_of("MariaDB", {10, 6, 20}), version_support::not_run);
  EXPECT_EQ(support_of("MariaDB", {10, 11, 19}), version_support::known);
  EXPECT_EQ(support_of("MariaDB", {11, 8, 6}), version_support::known);
  EXPECT_EQ(support_of("MariaDB", {12, 0, 2}), version_support::not_run);
  EXPECT_EQ(support_of("MySQL", {8, 4, 0}), version_support::not_run);
  EXPECT_EQ(support_of("MySQL", {9, 7, 4}), version_support::known);
  EXPECT_EQ(support_of("SQLite", {3, 36, 0}), version_support::too_old);
  EXPECT_EQ(support_of("SQLite", {3, 50, 1}), version_support::known);
  EXPECT_EQ(support_of("", {}), version_support::not_run);
}

/// Of this thread, for files alone.
class another_user {
 public:
  explicit another_user(unsigned id) { setfsuid(id); }
  another_user(const another_user&) = delete;
  another_user& operator=(const another_user&) = delete;
  ~another_user() { setfsuid(geteuid()); }
};

/// The checks of a migrated file by a user other than root, with these permissions.
std::map<std::string, cli::finding> checked_with(mode_t of_files, mode_t of_folder) {
  const temp_folder folder;
  const auto path = folder.path() / "locks.db";
  migrate_sqlite(path);
  for (const auto& file : std::filesystem::directory_iterator{folder.path()}) {
    chmod(file.path().c_str(), of_files);
  }
  chmod(folder.path().c_str(), of_folder);
  const another_user user{65534};
  sqlite_store rows{path};
  return checked(rows);
}

TEST(CheckupOfAFileTest, ThatMayOnlyBeReadFailsAndSaysWhatIsNeeded) {
  auto all = checked_with(0444, 0555);
  EXPECT_EQ(all.at("table").status, check_status::ok);
  EXPECT_EQ(all.at("list_privileges").status, check_status::ok);
  EXPECT_EQ(all.at("lock_privileges").status, check_status::failed);
  EXPECT_THAT(all.at("lock_privileges").detail, HasSubstr("write permission"));
  EXPECT_THAT(all.at("lease").advice, HasSubstr("write permission"));
}

TEST(CheckupOfAFileTest, InAFolderThatMayNotBeWrittenFails) {
  auto all = checked_with(0666, 0555);
  EXPECT_EQ(all.at("connection").status, check_status::failed);
  EXPECT_THAT(all.at("connection").advice, HasSubstr("folder"));
}

}  // namespace

}  // namespace rowlock::tests
