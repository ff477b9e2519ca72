// The recipes of docs/uses.md: their commands, executed as they stand there.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/cli_test.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/operators.hpp"
#include "support/documented.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

std::string documented_recipe(const std::string& heading, const std::string& language) {
  return documented({ROWLOCK_DOCUMENTED_USES, heading}, language);
}

/// What follows `begin` up to the end of its line.
std::string line_from(const std::string& begin, const std::string& text) {
  const auto at = text.find(begin);
  if (at == std::string::npos) throw std::runtime_error{"no '" + begin + "' in the document"};
  return text.substr(at, text.find('\n', at) - at);
}

/// A shell line that says the words of a JSON array.
std::string quoted(const std::string& array) {
  std::string line;
  for (const auto& word : nlohmann::json::parse(array)) {
    line += '\'' + word.get<std::string>() + "' ";
  }
  return line;
}

class DocumentedUses : public LockedCliTest {
 protected:
  void SetUp() override {
    LockedCliTest::SetUp();
    write(url_, database_->url() + '\n');
    write(program_, "#!/bin/sh\n" + script_with("trap 'echo stopped; exit 0' TERM"));
    permissions(url_, std::filesystem::perms::owner_read);
    permissions(program_, std::filesystem::perms::owner_all);
  }

  static void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream{file} << text;
  }

  /// The line with this database, and with the program of this test for `program`.
  [[nodiscard]] words shell(std::string line, const std::string& program) const {
    line = with_each(line, "/usr/bin/rowlock", "rowlock");
    line = with_each(line, "/etc/rowlock/app.url", url_);
    line = with_each(line, "/etc/rowlock/cleaner.url", url_);
    line = with_each(line, program, program_);
    for (const std::string command : {"migrate", "run", "lead"}) {
      for (const std::string& mark : {std::string{}, std::string{"'"}}) {
        line = with_each(line, mark + "rowlock" + mark + ' ' + mark + command + mark,
                         "exec rowlock " + command + " --table \"$TABLE\"");
      }
    }
    return {"sh", "-c", line};
  }
  [[nodiscard]] std::map<std::string, std::string> environment() const {
    const auto folder = std::filesystem::path{ROWLOCK_COMMAND}.parent_path().string();
    return {{"PATH", folder + ":/usr/bin:/bin"},
            {"TABLE", database_->table()},
            {"ROWLOCK_URL", database_->url()}};
  }
  [[nodiscard]] result run_line(const std::string& line, const std::string& program) const {
    child_process process{shell(line, program), environment()};
    process.close_input();
    return result_of(process);
  }

  /// It leads, and SIGTERM to its first process ends the service, releases the key and is no error.
  void expect_graceful(const std::string& line, const lock_key& key) const {
    child_process leading{shell(line, "/usr/bin/cleaner"), environment()};
    ASSERT_EQ(leading.read_line(), "started") << leading.errors();
    const auto rows = open();
    EXPECT_TRUE(show(*rows, key)->owned);
    leading.send_signal(SIGTERM);
    EXPECT_EQ(leading.read_line(), "stopped");
    EXPECT_EQ(leading.wait(), 0);
    EXPECT_FALSE(show(*rows, key)->owned);
  }

  const temp_folder folder_;
  const std::string url_ = folder_.path() / "url";
  const std::string program_ = folder_.path() / "program";
};

TEST_P(DocumentedUses, ACronJobRunsOnOneOfTheMachines) {
  const auto line =
      line_from("rowlock run", documented_recipe("A cron job on several machines", ""));
  write(program_, "#!/bin/sh\necho nightly\n");
  const auto rows = open();
  lock_table other_machine{*rows};
  auto held = other_machine.try_acquire({"cron", "nightly"});
  const auto refused = run_line(line, "/usr/bin/nightly");
  EXPECT_EQ(refused.code, 0);
  EXPECT_EQ(refused.output, "");
  held->release();
  const auto ran = run_line(line, "/usr/bin/nightly");
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_EQ(ran.output, "nightly\n");
}

TEST_P(DocumentedUses, AMigrationAtDeployRunsInEveryInstance) {
  std::istringstream lines{documented_recipe("A migration at deploy", "sh")};
  write(program_, "#!/bin/sh\necho migrated $ROWLOCK_SOURCE\n");
  result last;
  for (std::string line; std::getline(lines, line);) {
    last = run_line(line, "./migrate-the-schema");
    EXPECT_EQ(last.code, 0) << line << '\n' << last.errors;
  }
  EXPECT_EQ(last.output, "migrated schema\n");
}

TEST_P(DocumentedUses, ASigtermOfKubernetesReleasesTheKey) {
  const auto block = documented_recipe("SIGTERM in Kubernetes", "yaml");
  const auto line = line_from("[", line_from("command: ", block));
  expect_graceful(quoted(line), {"service", "cleaner"});
}

TEST_P(DocumentedUses, AUnitOfSystemdLeads) {
  const auto block = documented_recipe("One service in many places", "ini");
  const std::string begin = "ExecStart=";
  expect_graceful(line_from(begin, block).substr(begin.size()), {"service", "cleaner"});
}

ROWLOCK_ON_EVERY_DATABASE(DocumentedUses);

}  // namespace

}  // namespace rowlock::tests
