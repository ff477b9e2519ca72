// rowlock report: the page as one file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/cli_test.hpp"
#include "rowlock/lock_table.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// What stands between the texts; empty if they do not occur.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin);
  const auto to = text.find(end, from);
  if (from == std::string::npos || to == std::string::npos) return "";
  return text.substr(from + begin.size(), to - from - begin.size());
}

json data_of(const std::string& page) {
  return json::parse(
      between(page, R"(<script type="application/json" id="rowlock-data">)", "</script>"));
}

class CliReportTest : public LockedCliTest {
 protected:
  [[nodiscard]] result report(const std::string& file, const words& more = {}) const {
    return run(rowlock("report", words{"--html", file} + more));
  }

  const temp_folder folder_;
  const std::filesystem::path file_ = folder_.path() / "locks.html";
};

TEST_P(CliReportTest, TheFileHasThePageAndTheLocks) {
  const std::string markup = "</script><script>alert('x')</script><!--";
  const auto rows = open();
  lock_table locks{*rows, {.holder = "worker-a"}};
  const auto held = locks.try_acquire({"invoice", markup}, {.note = markup});
  ASSERT_TRUE(held.acquired());
  const auto made = report(file_.string(), {"--since", "24h"});
  EXPECT_EQ(made.code, 0) << made.errors;
  EXPECT_EQ(made.output, "");

  const auto page = text_of(file_);
  EXPECT_THAT(page,
              HasSubstr("<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
                        "content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
                        "'unsafe-inline'; img-src data:\">"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script src=")), Not(HasSubstr("rel=\"stylesheet\"")),
                          Not(HasSubstr("alert('x')</script>")), HasSubstr("https://d3js.org")));
  const auto data = data_of(page);
  EXPECT_EQ(data.at("locks").at("truncated"), false);
  EXPECT_EQ(data.at("locks").at("locks").front().at("source"), markup);
  EXPECT_EQ(data.at("locks").at("locks").front().at("note"), markup);
  EXPECT_EQ(data.at("history").at("has_history"), false);
  EXPECT_TRUE(data.at("history").at("at").is_string());
}

TEST_P(CliReportTest, TheFileHasTheHistorySinceThen) {
  ASSERT_EQ(run(rowlock("migrate", {"--with", "history"})).code, 0);
  const auto rows = open();
  lock_table locks{*rows};
  for (int number = 0; number < 2; ++number) {
    execute(
        "update shared_lock_event set at = '2020-01-01 00:00:00.000', since = "
        "'2020-01-01 00:00:00.000'");
    locks.try_acquire({"invoice", "42"})->release();
  }
  ASSERT_EQ(report(file_.string(), {"--since", "24h"}).code, 0);
  const auto history = data_of(text_of(file_)).at("history");
  EXPECT_EQ(history.at("has_history"), true);
  EXPECT_EQ(history.at("next"), nullptr);
  ASSERT_EQ(history.at("events").size(), 2U);
  EXPECT_EQ(history.at("events")[0].at("what"), "released");
  EXPECT_EQ(history.at("events")[1].at("what"), "granted");
}

TEST_P(CliReportTest, TheFileHasTheHistoryOfTheDayBeforeItsEnd) {
  ASSERT_EQ(run(rowlock("migrate", {"--with", "history"})).code, 0);
  lock_table{*open()}.try_acquire({"invoice", "42"})->release();
  execute(
      "update shared_lock_event set at = '2026-01-31 11:00:00.000', since = "
      "'2026-01-31 11:00:00.000'");
  const auto made = report(file_.string(), {"--until", "2026-01-31T12:00:00Z"});
  ASSERT_EQ(made.code, 0) << made.errors;
  EXPECT_EQ(data_of(text_of(file_)).at("history").at("events").size(), 2U);
}

TEST_P(CliReportTest, NothingElseIsLeftInTheFolder) {
  ASSERT_EQ(report(file_.string()).code, 0);
  ASSERT_EQ(report(file_.string()).code, 0);
  const std::filesystem::directory_iterator files{folder_.path()};
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_P(CliReportTest, AFileThatExistsIsReplacedAsAWhole) {
  std::ofstream{file_} << "old";
  std::ifstream still_open{file_};
  ASSERT_EQ(report(file_.string()).code, 0);
  EXPECT_THAT(text_of(file_), HasSubstr("<!DOCTYPE html>"));
  // Another file has taken its place, so a reader of the old one sees no mixture.
  std::string old;
  EXPECT_TRUE(std::getline(still_open, old));
  EXPECT_EQ(old, "old");
}

TEST_P(CliReportTest, AfterAFailureTheFileIsAsItWas) {
  std::ofstream{file_} << "old";
  execute("drop table shared_lock");
  const auto failed = report(file_.string());
  EXPECT_EQ(failed.code, 69);
  EXPECT_THAT(failed.errors, HasSubstr("rowlock migrate"));
  EXPECT_EQ(text_of(file_), "old");
}

TEST_P(CliReportTest, AMinusIsTheStandardOutput) {
  const auto made = report("-");
  EXPECT_EQ(made.code, 0) << made.errors;
  EXPECT_TRUE(made.output.starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(data_of(made.output).at("locks").at("locks"), json::array());
}

ROWLOCK_ON_EVERY_DATABASE(CliReportTest);

/// With a lock table in a file.
class CliReportFileTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(run_rowlock({"migrate", url_}).code, 0); }

  const temp_folder folder_;
  const std::string url_ = "sqlite://" + (folder_.path() / "locks.db").string();
};

TEST_F(CliReportFileTest, WhatIsNoFileIsNotReplaced) {
  const auto pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, folder_.path()}) {
    const auto refused = run_rowlock({"report", url_, "--html", path.string()});
    EXPECT_EQ(refused.code, 64) << path;
    EXPECT_THAT(refused.errors, HasSubstr("write - for the standard output"));
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(CliReportFileTest, AFolderThatIsMissingIsSaid) {
  const auto refused =
      run_rowlock({"report", url_, "--html", (folder_.path() / "none" / "locks.html").string()});
  EXPECT_EQ(refused.code, 74);
  EXPECT_THAT(refused.errors, HasSubstr("name another file with --html"));
}

TEST_F(CliReportFileTest, TheUmaskSaysWhoMayReadIt) {
  const auto file = folder_.path() / "locks.html";
  ASSERT_EQ(run({"sh", "-c", R"(umask 027; exec "$0" report "$1" --html "$2")", ROWLOCK_COMMAND,
                 url_, file.string()})
                .code,
            0);
  struct stat found {};
  ASSERT_EQ(stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0640U);
}

TEST_F(CliReportFileTest, WrongUsageIsSaid) {
  EXPECT_EQ(run_rowlock({"report", url_}).code, 64);
  const auto refused = run_rowlock({"report", url_, "--html", "-", "--since", "yesterday"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_THAT(refused.errors, HasSubstr("--since"));
}

}  // namespace

}  // namespace rowlock::tests
