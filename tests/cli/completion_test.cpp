// The completion scripts, in the shells that they are for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "cli/command_tree.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

struct completed_shell {
  std::string name;
  /// Runs the program beside this file that types lines.
  words typist;
  words syntax_check;
};
void PrintTo(const completed_shell& shell, std::ostream* out) { *out << shell.name; }

class CliCompletionTest : public testing::TestWithParam<completed_shell> {
 protected:
  void SetUp() override {
    std::ofstream{script()} << run_rowlock({"completion", GetParam().name}).output;
    std::ofstream{folder_.path() / "my urls"};
    std::filesystem::create_symlink(ROWLOCK_COMMAND, folder_.path() / "rowlock");
    const auto command = folder_.path() / "rowlock-job";
    std::ofstream{command} << "#!/bin/sh\n";
    std::filesystem::permissions(command, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::string script() const { return folder_.path() / "script"; }

  /// What the shell offers at the end of each line.
  [[nodiscard]] std::map<std::string, words> offered(const words& lines) const {
    const words in_folder{"env", "-C", folder_.path(),
                          "PATH=" + folder_.path().string() + ":/usr/bin:/bin"};
    const auto seen = run(in_folder + GetParam().typist + words{script()} + lines);
    EXPECT_EQ(seen.errors, "");
    std::map<std::string, words> all;
    std::istringstream output{seen.output};
    std::string of;
    for (std::string line; std::getline(output, line);) {
      if (line.starts_with("= ")) {
        of = line.substr(2);
        all[of];
      } else if (!line.empty()) {
        all[of].push_back(line);
      }
    }
    EXPECT_EQ(all.size(), lines.size()) << seen.output;
    return all;
  }

  [[nodiscard]] words offered(const std::string& line) const { return offered(words{line})[line]; }

 private:
  const temp_folder folder_;
};

TEST_P(CliCompletionTest, TheScriptHasNoSyntaxErrors) {
  const auto checked = run(GetParam().syntax_check + words{script()});
  EXPECT_EQ(checked.code, 0) << checked.output << checked.errors;
}

TEST_P(CliCompletionTest, EverySubcommandAndItsOptionsAreOffered) {
  const std::vector<std::string> command;
  cli::action chosen;
  const auto tree = cli::command_tree(command, chosen);
  words lines{"rowlock "};
  words names;
  for (const auto* subcommand : cli::subcommands_of(*tree)) {
    names.push_back(subcommand->get_name());
    lines.push_back("rowlock " + names.back() + " --");
  }
  auto seen = offered(lines);
  EXPECT_THAT(seen[lines.front()], IsSupersetOf(names));
  for (const auto* subcommand : cli::subcommands_of(*tree)) {
    words options;
    for (const auto* option : subcommand->get_options()) {
      for (const auto& name : option->get_lnames()) options.push_back("--" + name);
    }
    EXPECT_THAT(seen["rowlock " + subcommand->get_name() + " --"],
                testing::UnorderedElementsAreArray(options));
  }
}

TEST_P(CliCompletionTest, WordsOfAnOptionAreOffered) {
  const auto value = "rowlock list --state ";
  const auto joined = "rowlock list --state=h";
  const auto place = "rowlock completion ";
  auto seen = offered({value, joined, place});
  EXPECT_THAT(seen[value], UnorderedElementsAre("any", "held", "run-out", "closed"));
  EXPECT_THAT(seen[joined], testing::ElementsAre(testing::EndsWith("held")));
  EXPECT_THAT(seen[place], IsSupersetOf({"bash", "zsh", "fish"}));
}

TEST_P(CliCompletionTest, AnOptionOfAFileIsFollowedByFiles) {
  EXPECT_THAT(offered("rowlock list --url-file my"), UnorderedElementsAre("my urls"));
}

TEST_P(CliCompletionTest, WhatIsFreeHasNoWords) {
  EXPECT_THAT(offered("rowlock run --holder m"), IsEmpty());
}

TEST_P(CliCompletionTest, AfterTwoDashesRunAndLeadHaveACommandWithItsArguments) {
  const auto run_line = "rowlock run --type a -- rowlock-j";
  const auto lead_line = "rowlock lead --type a -- rowlock-j";
  const auto argument = "rowlock run --type a -- rowlock-job my";
  const auto of_another = "rowlock list -- rowlock-j";
  auto seen = offered({run_line, lead_line, argument, of_another});
  EXPECT_THAT(seen[run_line], UnorderedElementsAre("rowlock-job"));
  EXPECT_THAT(seen[lead_line], UnorderedElementsAre("rowlock-job"));
  EXPECT_THAT(seen[argument], UnorderedElementsAre("my urls"));
  EXPECT_THAT(seen[of_another], IsEmpty());
}

TEST_P(CliCompletionTest, WordsWithColonsAndSpacesDoNoHarm) {
  const auto colons = "rowlock run postgresql://app:1@db:5432/shop --sour";
  const auto spaces = "rowlock run 'host=db dbname=shop' --sour";
  const auto name_of_another = "rowlock list --type run --stat";
  auto seen = offered({colons, spaces, name_of_another});
  EXPECT_THAT(seen[colons], UnorderedElementsAre("--source"));
  EXPECT_THAT(seen[spaces], UnorderedElementsAre("--source"));
  EXPECT_THAT(seen[name_of_another], UnorderedElementsAre("--state"));
}

INSTANTIATE_TEST_SUITE_P(
    Shell, CliCompletionTest,
    testing::Values(completed_shell{"bash",
                                    {"bash", "--norc", ROWLOCK_CLI_TESTS "/completions.bash"},
                                    {"shellcheck", "--shell=bash"}},
                    completed_shell{
                        "zsh", {"zsh", "-f", ROWLOCK_CLI_TESTS "/completions.zsh"}, {"zsh", "-n"}},
                    completed_shell{"fish",
                                    {"fish", "--no-config", ROWLOCK_CLI_TESTS "/completions.fish"},
                                    {"fish", "--no-execute"}}),
    [](const auto& shell) { return shell.param.name; });

TEST(CliCompletionUsageTest, AnotherShellIsRefusedWithThoseThereAre) {
  const auto refused = run_rowlock({"completion", "tcsh"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_EQ(refused.errors, "rowlock: SHELL has an unknown value: write bash, zsh or fish\n");
  EXPECT_EQ(refused.output, "");
}

TEST(CliCompletionUsageTest, AShellIsNeeded) {
  const auto refused = run_rowlock({"completion"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_EQ(refused.errors, "rowlock: SHELL is required; see rowlock completion --help\n");
}

TEST(CliCompletionUsageTest, TheInstalledScriptsAreThePrintedOnes) {
  for (const auto& [shell, file] :
       {std::pair{"bash", "rowlock.bash"}, {"zsh", "rowlock.zsh"}, {"fish", "rowlock.fish"}}) {
    std::ifstream checked_in{std::string{ROWLOCK_COMPLETION "/"} + file};
    const std::string text{std::istreambuf_iterator{checked_in}, {}};
    EXPECT_EQ(text, run_rowlock({"completion", shell}).output);
  }
}

}  // namespace

}  // namespace rowlock::tests
