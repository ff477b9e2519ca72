// The questions of docs/operations.md: its commands and its SQL, executed as they stand there.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/cli_test.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/operators.hpp"
#include "support/documented.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using namespace std::chrono_literals;

std::string documented_answer(const std::string& heading, const std::string& language,
                              const std::string& words = {}) {
  return documented({ROWLOCK_DOCUMENTED_OPERATIONS, heading}, language, words);
}

class DocumentedOperations : public LockedCliTest {
 protected:
  void SetUp() override {
    LockedCliTest::SetUp();
    ASSERT_EQ(run(rowlock("migrate", {"--with", "history"})).code, 0);
  }

  [[nodiscard]] static bool is_on(const std::string& name) { return GetParam().name == name; }

  /// How many of the rows that the statement answers are such.
  [[nodiscard]] long long answered(std::string statement, const std::string& condition) const {
    statement.erase(statement.find_last_of(';'));
    return number("select count(*) from (" + statement + ") answer where " + condition);
  }

  /// Runs each line of a block, with this database for the URL.
  void run_commands(const std::string& heading, const std::string& words = {}) {
    std::istringstream lines{documented_answer(heading, "sh", words)};
    for (std::string line; std::getline(lines, line);) run_command(line);
  }
  void run_command(std::string line) const {
    line = with_each(line, " URL", R"( "$URL" --table "$TABLE")");
    // It would not end.
    line = with_each(line, "rowlock top", "rowlock top --once");
    line = with_each(line, "rowlock ", "\"$ROWLOCK\" ");
    child_process shell{
        {"sh", "-c", line},
        {{"URL", database_->url()}, {"TABLE", database_->table()}, {"ROWLOCK", ROWLOCK_COMMAND}}};
    shell.close_input();
    const auto ended = result_of(shell);
    EXPECT_EQ(ended.code, 0) << line << '\n' << ended.errors;
    EXPECT_EQ(ended.errors, "") << line;
  }

  const lock_key key_{"invoice", "42"};
  const std::unique_ptr<store> rows_ = open();
  lock_table locks_{*rows_};
};

TEST_P(DocumentedOperations, WhoHoldsIt) {
  const std::string heading = "Which process holds a key, since when, and is it alive?";
  const std::string own = is_on("Sqlite")     ? "julianday"
                          : is_on("Postgres") ? "ttl_us * interval"
                                              : "timestampdiff";
  const auto statement = documented_answer(heading, "sql", own);
  EXPECT_EQ(answered(statement, "1 = 1"), 0);
  const auto held = locks_.try_acquire(key_, {.correlation_id = "request 7"});
  ASSERT_EQ(held->write_note("step 1"), note_result::written);
  const std::string silent = is_on("Postgres")
                                 ? "silent_for between interval '0' and interval '30 seconds'"
                                 : "silent_for_s between 0 and 30";
  EXPECT_EQ(answered(statement,
                     "is_live and note = 'step 1' and correlation_id = 'request 7' and " + silent),
            1);
  run_commands(heading);
}

TEST_P(DocumentedOperations, WhoHadItLast) {
  const std::string heading = "Which process had a key last, and how did that end?";
  const auto statement = documented_answer(heading, "sql");
  locks_.try_acquire(key_)->release();
  EXPECT_EQ(answered(statement, "ended_as = 'released' and ended_at >= acquired_at"), 1);
  force_release(*rows_, key_, locks_.try_acquire(key_)->token(), "its host is gone", "ann");
  EXPECT_EQ(answered(statement,
                     "ended_as = 'forced' and forced_from is not null and "
                     "force_reason = 'its host is gone (by ann)'"),
            1);
  run_commands(heading);
}

TEST_P(DocumentedOperations, WhatHappenedYesterday) {
  const auto statement = documented_answer("What happened yesterday?", "sql");
  locks_.try_acquire(key_)->release();
  EXPECT_EQ(answered(statement, "what = 'released' and source_id = '42'"), 1);
}

TEST_P(DocumentedOperations, WhoWaits) {
  const auto statement = documented_answer("Which keys are waited for?", "sql");
  if (!is_on("Postgres")) return;  // others have no mark
  const auto held = locks_.try_acquire(key_);
  EXPECT_EQ(answered(statement, "1 = 1"), 0);
  (void)rows_->read(std::array{key_}, read_mode::watched);
  EXPECT_EQ(answered(statement, "source_id = '42'"), 1);
}

TEST_P(DocumentedOperations, WhichSessionHasTheRow) {
  const auto statement = documented_answer("Which session has the row?", "sql");
  if (!is_on("Postgres")) return;
  EXPECT_EQ(answered(statement, "1 = 1"), 0);
  const auto held = locks_.try_acquire(key_);
  EXPECT_GE(answered(statement, "pid is not null"), 1);
}

TEST_P(DocumentedOperations, MayITakeItAway) {
  const auto held = locks_.try_acquire(key_);
  std::string command = documented_answer("May I take it away?", "sh");
  command.erase(command.find_last_not_of('\n') + 1);
  run_command(command + " --yes > /dev/null");
  EXPECT_FALSE(show(*rows_, key_)->owned);
}

TEST_P(DocumentedOperations, CleaningUp) {
  const temp_folder folder;
  const auto file = folder.path() / "url";
  std::ofstream{file} << database_->url() << '\n';
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  std::istringstream lines{documented_answer("Cleaning up", "")};
  int commands = 0;
  for (std::string line; std::getline(lines, line); ++commands) {
    line = line.substr(line.find("rowlock purge"));
    line = with_each(line, "--url-file /etc/rowlock/purger.url",
                     "--url-file '" + file.string() + "' --table \"$TABLE\"");
    run_command(line);
  }
  EXPECT_EQ(commands, 2);
}

ROWLOCK_ON_EVERY_DATABASE(DocumentedOperations);

}  // namespace

}  // namespace rowlock::tests
