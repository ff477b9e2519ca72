// A database that cannot be used is 69, and the message says what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/cli_test.hpp"
#include "support/postgres_schema.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliUnavailableTest : public CliTest {};

TEST_P(CliUnavailableTest, AMissingTableIsRejectedWithTheCommandThatMakesIt) {
  database_->execute("create table other (number integer); drop table other");  // makes the file
  const words key{"--type", "invoice", "--source", "42"};
  for (const auto& command :
       {rowlock("list"), under_lock({"true"}), rowlock("show", key),
        rowlock("release", key + words{"--force", "--reason", "why", "--yes"}),
        rowlock("purge", {"--older-than", "1h", "--yes"}),
        rowlock("lead", key + words{"--", "true"})}) {
    const auto refused = run(command);
    EXPECT_EQ(refused.code, 69);
    EXPECT_THAT(refused.errors, HasSubstr("rowlock migrate"));
  }
}

ROWLOCK_ON_EVERY_DATABASE(CliUnavailableTest);

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

TEST(CliUnavailableServerTest, AnAnswerThatGotLostIs70) {
  const postgres_schema schema;
  const auto in_schema = [&schema](const std::string& sql) { return schema.table().in(sql); };
  const words where{postgres_url(), "--table", schema.table().text()};
  ASSERT_EQ(run_rowlock(words{"migrate"} + where).code, 0);
  // The connection breaks while the server executes the statement that acquires.
  postgres_schema::execute(
      "create function " + schema.name() + ".break() returns trigger language plpgsql as " +
      "$$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$; " +
      in_schema("create trigger break before insert on shared_lock for each row ") +
      "execute function " + schema.name() + ".break()");
  const auto failed = run_rowlock(words{"run"} + where +
                                  words{"--type", "invoice", "--source", "42", "--", "echo", "hi"});
  EXPECT_EQ(failed.code, 70);
  EXPECT_EQ(failed.output, "");
  EXPECT_THAT(failed.errors, HasSubstr("the connection to PostgreSQL was lost"));
}

}  // namespace

}  // namespace rowlock::tests
