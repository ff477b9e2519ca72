// The migrations describe each table and each column where a client of the database shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pqxx/pqxx>
#include <regex>
#include <sstream>
#include <string>

#include "cli/cli_test.hpp"
#include "support/mysql_database.hpp"
#include "support/postgres_schema.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

TEST(MigrationComments, OfPostgresAreOnEachTableAndColumn) {
  const postgres_schema schema;
  const auto table = schema.table().text();
  ASSERT_EQ(run_rowlock({"migrate", postgres_url(), "--table", table, "--with", "history"}).code,
            0);
  pqxx::connection connection{postgres_url()};
  pqxx::work work{connection};
  const auto in_schema =
      " where relkind = 'r' and relnamespace = " + work.quote(table.substr(0, table.find('.'))) +
      "::regnamespace";
  EXPECT_EQ(work.exec("select relname from pg_class" + in_schema).size(), 3);
  for (const auto& row : work.exec("select relname from pg_class" + in_schema +
                                   " and obj_description(oid, 'pg_class') is null")) {
    ADD_FAILURE() << row[0].c_str();
  }
  for (const auto& row : work.exec(
           "select relname, attname from pg_class join pg_attribute on attrelid = pg_class.oid" +
           in_schema + " and attnum > 0 and col_description(attrelid, attnum) is null")) {
    ADD_FAILURE() << row[0].c_str() << '.' << row[1].c_str();
  }
}

TEST(MigrationComments, OfMariadbAreOnEachTableAndColumn) {
  const mysql_database database;
  ASSERT_EQ(run_rowlock({"migrate", database.url(), "--with", "history"}).code, 0);
  EXPECT_EQ(database.value("select count(*) from information_schema.tables "
                           "where table_schema = database() and table_comment <> ''"),
            "3");
  EXPECT_EQ(database.value("select group_concat(table_name, '.', column_name) "
                           "from information_schema.columns "
                           "where table_schema = database() and column_comment = ''"),
            "");
}

TEST(MigrationComments, OfSqliteAreInItsSchema) {
  const temp_folder folder;
  const std::string path = folder.path() / "locks.db";
  ASSERT_EQ(run_rowlock({"migrate", "sqlite://" + path, "--with", "history"}).code, 0);
  std::istringstream schema{run({"sqlite3", path, ".schema"}).output};
  const std::regex column{"  ([a-z_]+) +(TEXT|INTEGER)\\b.*"};
  std::string before;
  int tables = 0;
  int columns = 0;
  for (std::string line; std::getline(schema, line); before = line) {
    if (before.starts_with("CREATE TABLE")) {
      ++tables;
      EXPECT_TRUE(line.starts_with("  -- ")) << before;
    }
    if (!std::regex_match(line, column)) continue;
    ++columns;
    EXPECT_TRUE(before.starts_with("  -- ")) << line;
  }
  EXPECT_EQ(tables, 3);
  EXPECT_EQ(columns, 24 + 3 + 12);
}

}  // namespace

}  // namespace rowlock::tests
