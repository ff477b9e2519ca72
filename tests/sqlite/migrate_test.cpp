// The migrations of SQLite, and the rules that the table itself keeps.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

#include "sqlite/sqlite_files.hpp"
#include "support/child_process.hpp"

namespace rowlock::tests {
namespace {

class SqliteMigrate : public sqlite_test {};

TEST_F(SqliteMigrate, CreatesAFileInWalModeForItsOwnerAlone) {
  const auto applied = migrate_sqlite(path());
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(applied.front().number, 1);
  EXPECT_EQ(text_of("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(std::filesystem::status(path()).permissions() & std::filesystem::perms{077},
            std::filesystem::perms::none);
}

TEST_F(SqliteMigrate, DoesNothingTheSecondTimeAndWaitsForNobody) {
  migrate_sqlite(path());
  const auto rival = rival_writer();
  EXPECT_TRUE(migrate_sqlite(path()).empty());
}

TEST_F(SqliteMigrate, AddsTheTableToAFileOfTheApplication) {
  SQLite::Database{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(
      "CREATE TABLE invoice (id INTEGER PRIMARY KEY); INSERT INTO invoice VALUES (1)");
  EXPECT_EQ(migrate_sqlite(path()).size(), 1U);
  EXPECT_EQ(text_of("SELECT count(*) FROM invoice"), "1");
}

TEST_F(SqliteMigrate, IsTakenBackByTheDownText) {
  migrate_sqlite(path());
  open()->exec(sqlite_migrations().front().down);
  EXPECT_EQ(text_of("SELECT count(*) FROM sqlite_schema"), "0");
  EXPECT_EQ(migrate_sqlite(path()).size(), 1U);
}

TEST_F(SqliteMigrate, KnowsWhatAnotherToolHasApplied) {
  SQLite::Database{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(
      sqlite_migrations().front().up);
  EXPECT_TRUE(migrate_sqlite(path()).empty());
}

TEST_F(SqliteMigrate, RefusesANewerSchema) {
  migrate_sqlite(path());
  open()->exec("INSERT INTO shared_lock_schema (number, name) VALUES (2, '002_later')");
  const auto thrown = error_of([&] { migrate_sqlite(path()); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "newer than version 1"));
}

TEST_F(SqliteMigrate, RefusesATableThatIsNotOursAndChangesNothing) {
  SQLite::Database{path(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE}.exec(
      "CREATE TABLE shared_lock_schema (number INTEGER); CREATE TABLE shared_lock (a)");
  const auto thrown = error_of([&] { migrate_sqlite(path()); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "has no record of rowlock"));
  EXPECT_EQ(text_of("SELECT count(*) FROM sqlite_schema"), "2");
}

TEST_F(SqliteMigrate, WithoutAFolderIsRejected) {
  const auto thrown = error_of([&] { migrate_sqlite(path("missing/locks.db")); });
  EXPECT_EQ(thrown.kind(), errc::rejected);
  EXPECT_TRUE(says(thrown, "folder"));
}

TEST_F(SqliteMigrate, OfAFileThatIsNoDatabaseIsRejected) {
  std::ofstream{path()} << std::string(4096, 'x');
  EXPECT_EQ(error_of([&] { migrate_sqlite(path()); }).kind(), errc::rejected);
}

TEST_F(SqliteMigrate, OfAFolderIsRejected) {
  EXPECT_EQ(error_of([&] { migrate_sqlite(path("")); }).kind(), errc::rejected);
}

TEST_F(SqliteMigrate, IntoASchemaOtherThanMainIsMisuseAndCreatesNoFile) {
  EXPECT_EQ(error_of([&] { migrate_sqlite(path(), "other.shared_lock"); }).kind(), errc::misuse);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

constexpr const char* file_of_the_parent = "ROWLOCK_TEST_SQLITE_FILE";

/// Run by the next test as well: there it is one of fifty processes, which begin together.
TEST_F(SqliteMigrate, MakesWhatAStoreNeeds) {
  std::string file = path();
  if (const char* const shared =
          std::getenv(file_of_the_parent)) {  // NOLINT(concurrency-mt-unsafe)
    file = shared;
    std::string begin;
    std::getline(std::cin, begin);
  }
  migrate_sqlite(file);
  EXPECT_TRUE(sqlite_store{file}.list().empty());
}

TEST_F(SqliteMigrate, SurvivesFiftyProcessesAtOnce) {
  std::vector<std::unique_ptr<child_process>> others;
  for (int i = 0; i < 50; ++i) {
    others.push_back(std::make_unique<child_process>(
        std::vector<std::string>{"/proc/self/exe",
                                 "--gtest_filter=SqliteMigrate.MakesWhatAStoreNeeds"},
        std::map<std::string, std::string>{{file_of_the_parent, path()},
                                           {"GTEST_TOTAL_SHARDS", "1"},  // else it may run none
                                           {"GTEST_SHARD_INDEX", "0"}}));
  }
  for (const auto& other : others) other->write_line("begin");
  for (const auto& other : others) {
    EXPECT_EQ(other->wait(), 0) << other->read_rest() << other->errors();
  }
  EXPECT_EQ(text_of("SELECT count(*) FROM shared_lock_schema"), "1");
}

struct row_rule {
  std::string name;
  std::string columns;
  std::string values;
};

class SqliteTable : public sqlite_test, public testing::WithParamInterface<row_rule> {};

TEST_P(SqliteTable, Refuses) {
  migrate_sqlite(path());
  EXPECT_THROW(open()->exec("INSERT INTO shared_lock (" + GetParam().columns + ") VALUES (" +
                            GetParam().values + ")"),
               SQLite::Exception);
}

std::string repeated(std::size_t times, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

row_rule type_rule(const std::string& name, const std::string& type) {
  return {name, "lock_type, source_id, version", type + ", '1', 1"};
}

row_rule id_rule(const std::string& name, const std::string& id) {
  return {name, "lock_type, source_id, version", "'t', " + id + ", 1"};
}

row_rule lease_rule(const std::string& name, const std::string& owner, const std::string& holder,
                    const std::string& acquired_at, const std::string& expires_at) {
  return {name, "lock_type, source_id, version, owner, holder, acquired_at, expires_at",
          "'t', '1', 1, " + owner + ", " + holder + ", " + acquired_at + ", " + expires_at};
}

row_rule done_rule(const std::string& name, const std::string& done_by, const std::string& done_at,
                   const std::string& done_until) {
  return {name, "lock_type, source_id, version, done_by, done_at, done_until",
          "'t', '1', 1, " + done_by + ", " + done_at + ", " + done_until};
}

row_rule text_rule(const std::string& name, const std::string& column) {
  // 1,025 bytes, 513 characters.
  return {name, "lock_type, source_id, version, " + column,
          "'t', '1', 1, 'a" + repeated(512, "\xC3\xA9") + "'"};
}

const std::string quoted_owner = "'0123456789abcdef0123456789abcdef'";
const std::string time = "'2026-01-31 12:00:00.000'";
const std::string unset = "'1970-01-01 00:00:00.000'";

INSTANTIATE_TEST_SUITE_P(
    ARowWith, SqliteTable,
    testing::Values(
        type_rule("AnEmptyType", "''"), type_rule("AnUnknownType", "NULL"),
        type_rule("ATypeOf65Bytes", "'" + repeated(65, "t") + "'"),
        type_rule("ASpaceInTheType", "'a b'"), type_rule("AnAccentInTheType", "'\xC3\xA9'"),
        type_rule("ANulInTheType", "'a' || char(0)"),
        type_rule("ABadByteBehindANulInTheType", "'a' || char(0) || ' '"),
        type_rule("ABlobAsItsType", "x'61'"), type_rule("AnEmptyScope", "'/t'"),
        type_rule("AnEmptyTypeInAScope", "'s/'"), type_rule("AScopeInAScope", "'a/b/c'"),
        type_rule("AScopeOf65Bytes", "'" + repeated(65, "s") + "/t'"),
        type_rule("ATypeOf65BytesInAScope", "'s/" + repeated(65, "t") + "'"),
        type_rule("ANumberWithoutDigits", "'t#'"), type_rule("ANumberOf5Digits", "'t#12345'"),
        type_rule("ANumberThatIsNone", "'t#1a'"), type_rule("TwoNumbers", "'t#1#2'"),
        type_rule("AnEmptyTypeWithANumber", "'#1'"),
        type_rule("AnEmptyTypeInAScopeWithANumber", "'s/#1'"),
        type_rule("ANumberInTheScope", "'s#1/t'"),
        type_rule("ATypeOf65BytesWithANumber", "'" + repeated(65, "t") + "#1'"),
        id_rule("AnEmptyId", "''"), id_rule("AnUnknownId", "NULL"),
        id_rule("AnIdOf256Bytes", "'" + repeated(256, "1") + "'"),
        id_rule("AnIdOf256BytesIn128Characters", "'" + repeated(128, "\xC3\xA9") + "'"),
        id_rule("ANulInTheId", "'1' || char(0)"), id_rule("ABlobAsItsId", "x'31'"),
        row_rule{"NoVersion", "lock_type, source_id", "'t', '1'"},
        row_rule{"AVersionOfZero", "lock_type, source_id, version", "'t', '1', 0"},
        row_rule{"AVersionAboveTheLimit", "lock_type, source_id, version",
                 "'t', '1', 9000000000000000000"},
        lease_rule("AnOwnerThatIsNoId", "'me'", "'host:1'", time, time),
        lease_rule("AnOwnerButNoHolder", quoted_owner, "NULL", time, time),
        lease_rule("AnOwnerButNoTime", quoted_owner, "'host:1'", "NULL", time),
        lease_rule("ALongHolder", quoted_owner, "'" + repeated(129, "h") + "'", time, time),
        lease_rule("AnEndButNoOwner", "NULL", "NULL", "NULL", time),
        lease_rule("ATimeWithoutMilliseconds", quoted_owner, "'host:1'", "'2026-01-31 12:00:00'",
                   time),
        lease_rule("AnEndThatIsNoTime", quoted_owner, "'host:1'", time, "'tomorrow'"),
        lease_rule("AnEndInAMonthThatIsNone", quoted_owner, "'host:1'", time,
                   "'2026-13-01 12:00:00.000'"),
        lease_rule("AnEndAboveTheLimit", quoted_owner, "'host:1'", time,
                   "'10000-01-01 00:00:00.000'"),
        done_rule("WorkDoneByNobody", "NULL", time, time),
        done_rule("WorkDoneByNoVersion", "0", time, time),
        done_rule("WorkDoneAtNoTime", "1", "NULL", time),
        done_rule("WorkDoneAtATimeWithoutMilliseconds", "1", "'2026-01-31 12:00:00'", time),
        done_rule("WorkDoneButNotRemembered", "1", time, unset),
        done_rule("NoWorkRemembered", "NULL", "NULL", time),
        done_rule("WorkRememberedUntilNoTime", "1", time, "'tomorrow'"),
        text_rule("ALongCorrelationId", "correlation_id"),
        text_rule("ALongFormerHolder", "forced_from"),
        row_rule{"AnEndOfUseThatIsNoTime", "lock_type, source_id, version, ended_at",
                 "'t', '1', 1, 'now'"},
        row_rule{"AForceThatIsNoTime", "lock_type, source_id, version, forced_at",
                 "'t', '1', 1, 'now'"},
        text_rule("ALongNote", "note"), text_rule("ALongReason", "force_reason")),
    [](const auto& instance) { return instance.param.name; });

TEST_F(SqliteMigrate, MakesATableThatAcceptsTheLongestKeysWithAndWithoutAScopeAndANumber) {
  migrate_sqlite(path());
  const std::string part = repeated(60, "t") + "_.:-";
  EXPECT_NO_THROW(open()->exec("INSERT INTO shared_lock (lock_type, source_id, version) VALUES ('" +
                               part + "', '" + repeated(255, "1") + "', 1), ('" + part + "/" +
                               part + "', '" + repeated(127, "\xC3\xA9") + "', 1), ('" + part +
                               "#1', '1', 1), ('" + part + "/" + part + "#9999', '1', 1)"));
}

TEST_F(SqliteMigrate, MakesATableThatAcceptsAClosedRowWorkThatIsDoneAndTheLongestTexts) {
  migrate_sqlite(path());
  const std::string longest = "'" + repeated(512, "\xC3\xA9") + "'";
  EXPECT_NO_THROW(
      open()->exec("INSERT INTO shared_lock (lock_type, source_id, version, holder, expires_at, "
                   "done_by, done_at, done_until, note, force_reason) VALUES ('t', '1', 2, "
                   "'host:1', " +
                   time + ", 1, " + time + ", " + time + ", " + longest + ", " + longest + ")"));
}

TEST_F(SqliteMigrate, MakesATableThatAcceptsTheLastVersionAndTheLastEnd) {
  migrate_sqlite(path());
  EXPECT_NO_THROW(
      open()->exec("INSERT INTO shared_lock (lock_type, source_id, version, owner, holder, "
                   "acquired_at, expires_at) VALUES ('t', '1', 8999999999999999999, " +
                   quoted_owner + ", 'host:1', " + time + ", '9999-12-31 23:59:59.999')"));
}

}  // namespace
}  // namespace rowlock::tests
