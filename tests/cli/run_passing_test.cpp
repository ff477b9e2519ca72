// rowlock run: a key that passes from one command to the next, and a command that runs once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/cli_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliPassingTest : public LockedCliTest {
 protected:
  [[nodiscard]] result pass_on(const std::string& script) const {
    return run(script_under_lock(script, {"--pass-to", file_}));
  }
  [[nodiscard]] result take_over(const std::string& script, const words& more = {}) const {
    return run(script_under_lock(script, words{"--taken-from", file_} + more));
  }
  [[nodiscard]] std::string text() const {
    std::string line;
    std::getline(std::ifstream{file_}, line);
    return line;
  }
  void write(const std::string& text) const {
    std::ofstream{file_} << text << '\n';
    std::filesystem::permissions(file_, std::filesystem::perms::owner_read);
  }

  const temp_folder folder_;
  const std::string file_ = folder_.path() / "lease";
};

TEST_P(CliPassingTest, TheKeyStaysTakenUntilTheNextCommandHasHadIt) {
  const auto first = pass_on("echo $ROWLOCK_TOKEN");
  ASSERT_EQ(first.code, 0) << first.errors;
  EXPECT_EQ(first.errors, "");
  EXPECT_EQ(number("select count(*) from shared_lock where owner is not null"), 1);
  EXPECT_EQ(run(under_lock({"true"})).code, 75);
  const auto second = take_over("echo $ROWLOCK_TOKEN");
  ASSERT_EQ(second.code, 0) << second.errors;
  EXPECT_GT(std::stoll(second.output), std::stoll(first.output));
  EXPECT_EQ(list(), "no key is held\n");
}

TEST_P(CliPassingTest, OnlyTheOwnerCanReadTheFileAndNothingElseIsLeftThere) {
  ASSERT_EQ(pass_on("true").code, 0);
  struct stat found {};
  ASSERT_EQ(stat(file_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0600U);
  EXPECT_EQ(pass_on("exit 3").code, 75);
  const std::filesystem::directory_iterator files{folder_.path()};
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_P(CliPassingTest, AFailedCommandReleasesTheKeyAndWritesNothing) {
  EXPECT_EQ(pass_on("exit 3").code, 3);
  EXPECT_FALSE(std::filesystem::exists(file_));
  EXPECT_EQ(list(), "no key is held\n");
  EXPECT_EQ(number("select failure_count from shared_lock"), 1);
}

TEST_P(CliPassingTest, ATextIsGoodOnce) {
  ASSERT_EQ(pass_on("true").code, 0);
  EXPECT_EQ(take_over("true").code, 0);
  const auto again = take_over("echo ran");
  EXPECT_EQ(again.code, 75);
  EXPECT_EQ(again.output, "");
  EXPECT_THAT(again.errors, AllOf(HasSubstr("invoice/42 has changed meanwhile"),
                                  HasSubstr(file_ + " ran out, was taken over or taken away"),
                                  Not(HasSubstr(text()))));
}

TEST_P(CliPassingTest, ATextThatIsCutOrForgedGetsNothing) {
  ASSERT_EQ(pass_on("true").code, 0);
  const auto whole = text();
  std::filesystem::remove(file_);
  write(whole.substr(0, whole.size() - 1));
  const auto cut = take_over("echo ran");
  EXPECT_EQ(cut.code, 64);
  EXPECT_THAT(cut.errors, HasSubstr("not the whole text of a lease that was passed on"));
  std::filesystem::remove(file_);
  write(whole.substr(0, whole.size() - 1) + (whole.back() == '0' ? '1' : '0'));
  const auto forged = take_over("echo ran");
  EXPECT_EQ(forged.code, 75);
  EXPECT_EQ(cut.output + forged.output, "");
  std::filesystem::remove(file_);
  write(whole);
  EXPECT_EQ(take_over("true").code, 0);
}

TEST_P(CliPassingTest, AnotherKeyOrFileIsWrongUsage) {
  ASSERT_EQ(pass_on("true").code, 0);
  const auto other = run(
      rowlock("run", {"--type", "invoice", "--source", "43", "--taken-from", file_, "--", "true"}));
  EXPECT_EQ(other.code, 64);
  EXPECT_THAT(other.errors, HasSubstr("passes on invoice/42, not invoice/43"));
  std::filesystem::permissions(file_, std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(take_over("true").errors, HasSubstr("chmod 600"));
  std::filesystem::remove(file_);
  EXPECT_THAT(take_over("true").errors, HasSubstr("cannot be read"));
  EXPECT_EQ(run(script_under_lock("true", {"--pass-to", folder_.path() / "no/lease"})).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--pass-to", folder_.path()})).code, 64);
  EXPECT_EQ(take_over("true", {"--wait", "1s"}).code, 64);
}

TEST_P(CliPassingTest, ACommandMayPassOnWhatItTookOver) {
  ASSERT_EQ(pass_on("true").code, 0);
  ASSERT_EQ(take_over("true", {"--pass-to", file_}).code, 0);
  EXPECT_EQ(take_over("exit 4").code, 4);
  EXPECT_EQ(list(), "no key is held\n");
  EXPECT_EQ(number("select failure_count from shared_lock"), 1);
}

ROWLOCK_ON_EVERY_DATABASE(CliPassingTest);

class CliOnceTest : public LockedCliTest {
 protected:
  [[nodiscard]] result once(const std::string& script, const words& more = {}) const {
    return run(script_under_lock(script, words{"--once-for", "24h"} + more));
  }
};

TEST_P(CliOnceTest, ACommandThatHasSucceededDoesNotRunAgainAndThatIsASuccess) {
  EXPECT_EQ(once("echo ran").output, "ran\n");
  const auto again = once("echo ran");
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.output, "");
  EXPECT_THAT(again.errors, HasSubstr("invoice/42 is done already, since "));
}

TEST_P(CliOnceTest, ACommandThatFailedRunsAgain) {
  EXPECT_EQ(once("exit 3").code, 3);
  EXPECT_EQ(once("echo ran").output, "ran\n");
}

TEST_P(CliOnceTest, WhileItRunsElsewhereItIsRefusedAsHeld) {
  child_process running{script_under_lock("echo started; read line", {"--once-for", "24h"})};
  running.read_line();
  EXPECT_EQ(once("echo ran").code, 75);
  running.close_input();
}

TEST_P(CliOnceTest, EachKeyIsARunOfItsOwn) {
  EXPECT_EQ(once("echo $ROWLOCK_SOURCE", {"--once-key", "2026-01-31"}).output, "42/2026-01-31\n");
  EXPECT_EQ(once("echo ran", {"--once-key", "2026-01-31"}).output, "");
  EXPECT_EQ(once("echo ran", {"--once-key", "2026-02-01"}).output, "ran\n");
}

TEST_P(CliOnceTest, BadInputIsWrongUsage) {
  EXPECT_EQ(once("true", {"--pass-to", "x"}).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--once-key", "x"})).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--once-for", "5000d"})).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--once-for", "0s"})).code, 64);
  EXPECT_EQ(run(script_under_lock("true", {"--once-for", "soon"})).code, 64);
  EXPECT_EQ(number("select count(*) from shared_lock"), 0);
}

ROWLOCK_ON_EVERY_DATABASE(CliOnceTest);

}  // namespace
}  // namespace rowlock::tests
