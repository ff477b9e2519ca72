// rowlock migrate --print --format flyway, golang-migrate, dbmate and liquibase: the files, and
// what they do.
//
// Debian does not have these tools; script/check-migration-tools runs two of them. Here the server
// executes what they send, cut as they cut it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/migration_folder_test.hpp"

namespace rowlock::tests {

namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

class CliMigrationLayout : public MigrationFolderTest {};

/// Its parts between lines that are `mark`.
std::vector<std::string> cut_at(const std::string& mark, const std::string& text) {
  std::vector<std::string> parts{""};
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line == mark) {
      parts.emplace_back();
    } else {
      parts.back() += line + '\n';
    }
  }
  return parts;
}

TEST_P(CliMigrationLayout, FlywayFindsVersionsAndTheirUndos) {
  write("flyway");
  EXPECT_THAT(names(), ElementsAre("U1__shared_lock.sql", "U2__shared_lock_history.sql",
                                   "V1__shared_lock.sql", "V2__shared_lock_history.sql"));
  for (const auto& name : names()) {
    EXPECT_EQ(file(name).find("${"), std::string::npos) << "a placeholder in " << name;
  }
  // As Flyway does, the client obeys DELIMITER.
  const auto client = [&](const std::string& first, const std::string& second) {
    const auto quoted = [&](const std::string& name) { return "\"$0/" + name + '"'; };
    std::string command =
        "psql -1 -v ON_ERROR_STOP=1 -f " + quoted(first) + " -f " + quoted(second) + " DATABASE";
    if (is_sqlite())
      command = "cat " + quoted(first) + ' ' + quoted(second) + " | sqlite3 -bail FILE";
    if (is_mariadb())
      command = "cat " + quoted(first) + ' ' + quoted(second) + " | mariadb DATABASE";
    const auto done = run({"sh", "-c", on_this(command), folder()});
    EXPECT_EQ(done.code, 0) << done.errors;
  };
  client("V1__shared_lock.sql", "V2__shared_lock_history.sql");
  expect_applied();
  client("U2__shared_lock_history.sql", "U1__shared_lock.sql");
  expect_taken_back();
}

TEST_P(CliMigrationLayout, GolangMigrateSendsEachFileAsItIs) {
  write("golang-migrate");
  const auto all = names();
  ASSERT_EQ(all.size(), 4U);
  for (const auto& name : all) {
    EXPECT_THAT(name, MatchesRegex("[0-9]{6}_[a-z_]+\\.(up|down)\\.sql"));
    EXPECT_EQ(file(name).find("DELIMITER"), std::string::npos);
    EXPECT_EQ(file(name).find("BEGIN;"), std::string::npos);
  }
  expect_to_apply({file(all[1]), file(all[3])}, {file(all[2]), file(all[0])});
}

TEST_P(CliMigrationLayout, DbmateSendsTheSections) {
  write("dbmate");
  std::vector<std::string> ups;
  std::vector<std::string> downs;
  for (const auto& name : names()) {
    EXPECT_THAT(name, MatchesRegex("[0-9]{14}_[a-z_]+\\.sql"));
    const auto sections = cut_at("-- migrate:down", file(name));
    ASSERT_EQ(sections.size(), 2U) << name;
    const auto begin = cut_at("-- migrate:up", sections[0]);
    ASSERT_EQ(begin.size(), 2U) << name;
    for (const auto& line : cut_at("", begin[0])) {
      EXPECT_TRUE(line.empty() || line.starts_with("--")) << "before the first section: " << line;
    }
    ups.push_back(begin[1]);
    downs.insert(downs.begin(), sections[1]);
  }
  EXPECT_EQ(ups.size(), 2U);
  expect_to_apply(ups, downs);
}

TEST_P(CliMigrationLayout, LiquibaseSendsEachStatementOfAChangeset) {
  write("liquibase");
  EXPECT_THAT(names(), ElementsAre("rowlock.sql"));
  const auto changelog = file("rowlock.sql");
  EXPECT_TRUE(changelog.starts_with("--liquibase formatted sql\n"));
  // It would take such comments for its own and reject the file.
  EXPECT_FALSE(std::regex_search(
      changelog, std::regex{"\n *-+ +(changeset|rollback|preconditions?|property|comment)\\b"}));

  std::vector<std::string> ups;
  std::vector<std::string> downs;
  const std::string mark = "\n--changeset rowlock:";
  for (auto at = changelog.find(mark); at != std::string::npos;) {
    const auto end = changelog.find(mark, at + 1);
    std::istringstream lines{changelog.substr(at + 1, end - at - 1)};
    std::string header;
    std::getline(lines, header);
    std::string up;
    std::string down;
    for (std::string line; std::getline(lines, line);) {
      constexpr std::string_view prefix = "--rollback ";
      if (line.starts_with(prefix)) {
        down += line.substr(prefix.size()) + '\n';
      } else {
        up += line + '\n';
      }
    }
    const bool is_cut = header.find("endDelimiter://") != std::string::npos;
    EXPECT_NE(is_cut, header.find("splitStatements:false") != std::string::npos) << header;
    const auto statements = [&](const std::string& sql) {
      return is_cut ? cut_at("//", sql) : std::vector<std::string>{sql};
    };
    for (const auto& each : statements(up)) ups.push_back(each);
    auto taken_back = statements(down);
    taken_back.insert(taken_back.end(), downs.begin(), downs.end());
    downs = taken_back;
    at = end;
  }
  const auto is_blank = [](const std::string& sql) {
    return sql.find_first_not_of(" \n") == std::string::npos;
  };
  ups.erase(std::remove_if(ups.begin(), ups.end(), is_blank), ups.end());
  downs.erase(std::remove_if(downs.begin(), downs.end(), is_blank), downs.end());
  EXPECT_EQ(ups.size(), is_sqlite() || is_mariadb() ? 8U : 2U);
  expect_to_apply(ups, downs);
}

ROWLOCK_ON_EVERY_DATABASE(CliMigrationLayout);

}  // namespace

}  // namespace rowlock::tests
