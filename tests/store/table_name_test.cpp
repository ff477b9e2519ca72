// The name of the lock table: what is allowed, and how it gets into SQL.
#include "rowlock/table_name.hpp"

#include <gtest/gtest.h>

#include <string>

#include "rowlock/error.hpp"

namespace rowlock::tests {
namespace {

TEST(TableName, IsSharedLockUnlessToldOtherwise) {
  EXPECT_EQ(table_name{}.text(), "shared_lock");
  EXPECT_EQ(table_name{}.in("FROM shared_lock"), R"(FROM "shared_lock")");
}

TEST(TableName, ReplacesEveryWordThatBeginsWithThePlainName) {
  EXPECT_EQ(table_name{"locks"}.in("shared_lock, shared_lock_schema(shared_lock)"),
            R"("locks", "locks_schema"("locks"))");
}

TEST(TableName, LeavesWordsAloneThatOnlyContainThePlainName) {
  EXPECT_EQ(table_name{"locks"}.in("001_shared_lock, a_shared_lock, unshared_lock"),
            "001_shared_lock, a_shared_lock, unshared_lock");
}

TEST(TableName, PutsTheSchemaInFront) {
  EXPECT_EQ(table_name{"app.locks"}.in("shared_lock.version FROM shared_lock_schema"),
            R"("app"."locks".version FROM "app"."locks_schema")");
}

TEST(TableName, KeepsUpperAndLowerCaseApart) {
  EXPECT_EQ(table_name{"Locks"}.in("shared_lock"), R"("Locks")");
}

TEST(TableName, LeavesNoPlainNameInAMigration) {
  for (const auto& step : sqlite_migrations("main.locks")) {
    EXPECT_NE(step.up.find(R"("main"."locks")"), std::string::npos);
    EXPECT_EQ(step.up.find(" shared_lock"), std::string::npos);
    EXPECT_EQ(step.down.find(" shared_lock"), std::string::npos);
  }
}

TEST(TableName, HasRoomForTheNamesOfItsCompanions) {
  const std::string longest(56, 't');
  EXPECT_EQ(table_name{longest}.in("shared_lock_schema"), '"' + longest + "_schema\"");
  EXPECT_EQ(table_name{std::string(63, 's') + '.' + longest}.in("shared_lock"),
            '"' + std::string(63, 's') + "\".\"" + longest + '"');
}

class BadTableName : public testing::TestWithParam<std::string> {};

TEST_P(BadTableName, IsMisuse) {
  try {
    const table_name name{GetParam()};
    FAIL() << "it was accepted";
  } catch (const error& thrown) {
    EXPECT_EQ(thrown.kind(), errc::misuse);
    EXPECT_NE(std::string{thrown.what()}.find("lock table"), std::string::npos) << thrown.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Each, BadTableName,
                         testing::Values("", ".", "a.", ".a", "a.b.c", "1st", "a-b", "a b", "a\"b",
                                         "a'b", "a;b", "a$b", "t\xC3\xA4", std::string{"a\0b", 3},
                                         std::string(57, 't'), std::string(64, 's') + ".t",
                                         "s." + std::string(57, 't')));

TEST(TableName, WithTwoDotsIsToldOfTheSchemaThatItMayHave) {
  try {
    const table_name name{"a.b.c"};
    FAIL() << "it was accepted";
  } catch (const error& thrown) {
    EXPECT_NE(std::string{thrown.what()}.find("SCHEMA.NAME"), std::string::npos) << thrown.what();
  }
}

}  // namespace
}  // namespace rowlock::tests
