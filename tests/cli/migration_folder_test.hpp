// A folder of rowlock migrate --print --output, and the database that its files are applied to.
#ifndef ROWLOCK_TESTS_CLI_MIGRATION_FOLDER_TEST_HPP
#define ROWLOCK_TESTS_CLI_MIGRATION_FOLDER_TEST_HPP

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

/// `text` with the first `word`, which it contains, replaced.
inline std::string replaced(std::string text, const std::string& word, const std::string& by) {
  const auto at = text.find(word);
  EXPECT_NE(at, std::string::npos) << word << " in " << text;
  return at == std::string::npos ? text : text.replace(at, word.size(), by);
}

class MigrationFolderTest : public CliTest {
 protected:
  /// Writes the folder with the history, and returns the command that it says.
  std::string write(const std::string& format) {
    const auto written = run(rowlock(
        "migrate", {"--with", "history", "--print", "--format", format, "--output", folder()}));
    EXPECT_EQ(written.code, 0) << written.errors;
    const auto at = written.output.find("next: ");
    EXPECT_NE(at, std::string::npos) << written.output;
    return written.output.substr(at + 6);
  }

  [[nodiscard]] std::string folder() const { return parent_.path() / "it's new"; }

  /// Names of the files, in order.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& each : std::filesystem::directory_iterator{folder()}) {
      all.push_back(each.path().filename());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  [[nodiscard]] std::string file(const std::string& name) const {
    return run({"cat", folder() + '/' + name}).output;
  }

  [[nodiscard]] bool is_sqlite() const { return database_->url().starts_with("sqlite:"); }
  [[nodiscard]] bool is_mariadb() const { return database_->url().starts_with("mysql:"); }
  [[nodiscard]] std::string path() const { return database_->url().substr(9); }

  /// `command` with this database instead of its words in capitals.
  [[nodiscard]] std::string on_this(const std::string& command) const {
    if (is_sqlite()) return replaced(command, " FILE", ' ' + path());
    if (!is_mariadb()) return replaced(command, " DATABASE", " -qX '" + database_->url() + '\'');
    std::smatch part;
    const auto url = database_->url();
    std::regex_match(url, part, std::regex{"mysql://([^:@]*)(:[^@]*)?@([^:/]*):(\\d+)/(.*)"});
    auto password = part[2].str();
    if (!password.empty()) password = " -p'" + password.substr(1) + '\'';
    return replaced(command, "mariadb DATABASE",
                    "mariadb --no-defaults --skip-ssl -h" + part[3].str() + " -P" + part[4].str() +
                        " -u" + part[1].str() + password + ' ' + part[5].str());
  }

  /// Succeeds without a word: no warning, no notice.
  static void run_quietly(const std::string& command) {
    const auto done = run({"sh", "-c", command});
    EXPECT_EQ(done.code, 0) << command << '\n' << done.errors;
    EXPECT_EQ(done.output + done.errors, "") << command;
  }

  /// `rowlock migrate` has nothing to add, and both the lock table and its history are in use.
  void expect_applied() const {
    EXPECT_EQ(run(rowlock("migrate", {"--with", "history"})).output,
              "nothing to do: schema version 1\n");
    const auto used = run(under_lock({"true"}));
    EXPECT_EQ(used.code, 0) << used.errors;
    EXPECT_GE(number("select count(*) from shared_lock_event"), 1);
  }

  void expect_same_after_a_second_time() const {
    EXPECT_EQ(number("select count(*) from shared_lock"), 1);
    EXPECT_EQ(number("select count(*) from shared_lock_event"), 1);
    EXPECT_EQ(number("select count(*) from shared_lock_schema"), 1);
  }

  void expect_taken_back() const {
    EXPECT_EQ(run(rowlock("migrate", {"--with", "history"})).output,
              "applied 001 shared_lock\nbegan the history\n");
  }

  /// Executes each of `ups`, twice, and then each of `downs`, twice.
  void expect_to_apply(const std::vector<std::string>& ups, const std::vector<std::string>& downs) {
    for (const auto& sql : ups) database_->execute(sql);
    expect_applied();
    for (const auto& sql : ups) database_->execute(sql);
    expect_same_after_a_second_time();
    for (const auto& sql : downs) database_->execute(sql);
    for (const auto& sql : downs) database_->execute(sql);
    expect_taken_back();
  }

 private:
  temp_folder parent_;
};

}  // namespace rowlock::tests

#endif
