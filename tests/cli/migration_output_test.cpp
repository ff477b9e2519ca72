// rowlock migrate --print --output: what is rejected, and that a folder has all its files or does
// not exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/cli_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class CliMigrationOutput : public testing::Test {
 protected:
  [[nodiscard]] std::string folder() const { return parent_.path() / "locks"; }

  static result print(const words& more, const std::string& url = "postgresql://") {
    return run_rowlock(words{"migrate", url, "--print"} + more);
  }

  static std::string contents_of(const std::filesystem::path& file) {
    return run({"cat", file}).output;
  }

  void expect_refusal(const result& refused, int code, const std::string& why) const {
    EXPECT_EQ(refused.code, code) << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr(why));
    EXPECT_THAT(refused.output, IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(parent_.path()));
  }

  temp_folder parent_;
};

TEST_F(CliMigrationOutput, TheSchemeIsUrlEnough) {
  for (const auto* url : {"postgresql://", "sqlite://", "mysql://", "mariadb://"}) {
    const auto printed = print({}, url);
    EXPECT_EQ(printed.code, 0) << printed.errors;
    const auto written =
        print({"--format", "dbmate", "--output", folder() + std::string{url}.substr(0, 6)}, url);
    EXPECT_EQ(written.code, 0) << written.errors;
  }
  EXPECT_EQ(run_rowlock({"migrate", "sqlite://"}).code, 64);
}

TEST_F(CliMigrationOutput, RejectsAnUnknownFormatWithoutShowingIt) {
  const auto refused = print({"--format", "postgresql://app:s3cret@db/shop", "--output", folder()});
  expect_refusal(refused, 64,
                 "--format has an unknown value: write plain, flyway, sqitch, golang-migrate, "
                 "liquibase or dbmate");
  EXPECT_EQ(refused.errors.find("s3cret"), std::string::npos);
}

TEST_F(CliMigrationOutput, RejectsAUrlForAFolderWithoutShowingItsPassword) {
  const auto refused =
      print({"--format", "flyway", "--output", "postgresql://app:s3cret@nowhere/shop"});
  expect_refusal(refused, 74, "nowhere");
  EXPECT_EQ(refused.errors.find("s3cret"), std::string::npos);
}

TEST_F(CliMigrationOutput, RejectsOptionsThatDoNotGoTogether) {
  expect_refusal(print({"--format", "flyway"}), 64, "name a new folder with --output");
  expect_refusal(print({"--format", "flyway", "--output", folder(), "--down"}), 64, "--down");
  expect_refusal(print({"--output", folder(), "--without", "history"}), 64, "--without");
  expect_refusal(run_rowlock({"migrate", "postgresql://", "--format", "flyway"}), 64, "--print");
  expect_refusal(run_rowlock({"migrate", "postgresql://", "--output", folder()}), 64, "--print");
}

TEST_F(CliMigrationOutput, RejectsATableThatIsNoName) {
  for (const auto* table : {"a\"b", "a'b", "a`b", "", "a.b.c", "a b"}) {
    expect_refusal(print({"--output", folder(), "--table", table}, "sqlite://"), 64, "the name of");
  }
}

TEST_F(CliMigrationOutput, NamesTheTableWithItsSchema) {
  ASSERT_EQ(print({"--output", folder(), "--format", "sqitch", "--table", "app.locks"}).code, 0);
  const std::filesystem::path written{folder()};
  EXPECT_THAT(contents_of(written / "deploy/shared_lock.sql"),
              HasSubstr("CREATE TABLE \"app\".\"locks\""));
  EXPECT_THAT(contents_of(written / "sqitch.plan"), HasSubstr("%project=rowlock-app-locks\n"));
}

TEST_F(CliMigrationOutput, IsTheSameEachTime) {
  for (const auto* format :
       {"plain", "flyway", "sqitch", "golang-migrate", "liquibase", "dbmate"}) {
    const auto first = folder() + format;
    ASSERT_EQ(print({"--format", format, "--output", first}).code, 0);
    ASSERT_EQ(print({"--format", format, "--output", first + "-again/"}).code, 0);
    EXPECT_EQ(run({"diff", "-r", first, first + "-again"}).code, 0);
  }
}

TEST_F(CliMigrationOutput, LeavesWhatIsThereAsItIs) {
  ASSERT_EQ(print({"--output", folder()}).code, 0);
  const std::filesystem::path written{folder()};
  const auto mine = written / "001_shared_lock.up.sql";
  std::ofstream{mine} << "mine";
  const auto refused = print({"--format", "flyway", "--output", folder()});
  EXPECT_EQ(refused.code, 64);
  EXPECT_THAT(refused.errors, HasSubstr(folder() + " exists already"));
  EXPECT_EQ(contents_of(mine), "mine");
  EXPECT_FALSE(std::filesystem::exists(written / "V1__shared_lock.sql"));

  const auto file = print({"--output", mine.string()});
  EXPECT_EQ(file.code, 64);
  EXPECT_EQ(contents_of(mine), "mine");
}

TEST_F(CliMigrationOutput, SaysThatAFolderCannotBeWritten) {
  expect_refusal(print({"--output", folder() + "/deeper"}), 74,
                 "cannot be written: No such file or directory");
  expect_refusal(print({"--output=", "--format", "plain"}), 64, "--output has no name");
}

TEST_F(CliMigrationOutput, WritesAllFilesOrNone) {
  const auto refused =
      run({"sh", "-c",
           R"(trap '' XFSZ; ulimit -f 4; exec "$0" migrate --print --output "$1" postgresql://)",
           ROWLOCK_COMMAND, folder()});
  expect_refusal(refused, 74, "cannot be written: File too large");
}

}  // namespace

}  // namespace rowlock::tests
