// A database that cannot be used is 69, and the message says what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/cli_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliUnavailableTest : public CliTest {};

TEST_P(CliUnavailableTest, AMissingTableIsRejectedWithTheCommandThatMakesIt) {
  database_->execute("create table other (number integer); drop table other");  // makes the file
  for (const auto& command : {rowlock("list"), under_lock({"true"})}) {
    const auto refused = run(command);
    EXPECT_EQ(refused.code, 69);
    EXPECT_THAT(refused.errors, HasSubstr("rowlock migrate"));
  }
}

ROWLOCK_ON_BOTH_DATABASES(CliUnavailableTest);

TEST(CliUnavailableFileTest, AMissingFileIsRejectedAndNotCreated) {
  const temp_folder folder;
  const auto path = folder.path() / "locks.db";
  const auto refused = run_rowlock({"list", "sqlite://" + path.string()});
  EXPECT_EQ(refused.code, 69);
  EXPECT_THAT(refused.errors, HasSubstr("rowlock migrate"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(CliUnavailableFileTest, AFileThatIsNoDatabaseIsRejected) {
  const temp_folder folder;
  const auto path = folder.path() / "letter.txt";
  std::ofstream{path} << std::string(4096, 'x');
  EXPECT_EQ(run_rowlock({"list", "sqlite://" + path.string()}).code, 69);
  EXPECT_EQ(run_rowlock({"migrate", "sqlite://" + path.string()}).code, 69);
}

TEST(CliUnavailableFileTest, MigrateDoesNotCreateFolders) {
  const temp_folder folder;
  const auto url = "sqlite://" + (folder.path() / "missing" / "locks.db").string();
  EXPECT_EQ(run_rowlock({"migrate", url}).code, 69);
}

TEST(CliUnavailableServerTest, AnUnreachableServerIsSaidWithoutThePassword) {
  for (const auto* url : {"postgresql://app:sesame@127.0.0.1:1/shop",
                          "host=127.0.0.1 port=1 user=app password=sesame dbname=shop"}) {
    for (const auto& command :
         {words{"list", url}, words{"migrate", url},
          words{"run", url, "--type", "invoice", "--source", "42", "--", "true"}}) {
      const auto failed = run_rowlock(command);
      EXPECT_EQ(failed.code, 69);
      EXPECT_THAT(failed.errors, AllOf(HasSubstr("rowlock: "), Not(HasSubstr("sesame"))));
    }
  }
}

TEST(CliUnavailableServerTest, AUrlThatLibpqDoesNotUnderstandIsSaidWithoutThePassword) {
  for (const auto* url :
       {"postgresql://app:ses%zzame@db/shop", "host=db password='sesame", "host=db pass=sesame"}) {
    const auto failed = run_rowlock({"list", url});
    EXPECT_TRUE(failed.code == 64 || failed.code == 69) << failed.code;
    EXPECT_THAT(failed.errors, AllOf(HasSubstr("rowlock: "), Not(HasSubstr("ses"))));
  }
}

}  // namespace

}  // namespace rowlock::tests
