// The man pages: what --help says, as man shows it.
#include "cli/manual/man_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli_test.hpp"
#include "cli/command_tree.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

namespace {

using testing::HasSubstr;

/// Words with one space between them.
std::string in_one_line(const std::string& text) {
  std::istringstream all{text};
  std::string line;
  for (std::string word; all >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// As a terminal shows it, in one line.
std::string shown(const std::filesystem::path& page) {
  return in_one_line(run({"groff", "-man", "-Tutf8", "-P-cbou", page}).output);
}

class ManPageTest : public testing::Test {
 protected:
  /// Of the pages that a build makes at the first second of 2026-01-31.
  static words pages() {
    words files;
    for (const auto& entry : std::filesystem::directory_iterator{folder().path() / "man1"}) {
      files.push_back(entry.path());
    }
    return files;
  }
  static std::string page_of(const CLI::App& command) {
    return folder().path() / "man1" / (cli::page_name_of(command) + ".1");
  }

  /// Runs `tool` on all pages; its output must be empty.
  static void expect_silence_of(const words& tool) {
    const auto end = run(tool + pages());
    EXPECT_EQ(end.code, 0);
    EXPECT_EQ(end.errors + end.output, "");
  }

  ManPageTest() : commands_{cli::subcommands_of(*tree_)} { commands_.push_back(tree_.get()); }

  const std::vector<std::string> after_mark_;
  cli::action chosen_;
  const std::unique_ptr<CLI::App> tree_ = cli::command_tree(after_mark_, chosen_);
  std::vector<const CLI::App*> commands_;

 private:
  static const temp_folder& folder() {
    static const temp_folder written;
    static const auto end =
        run({"env", "SOURCE_DATE_EPOCH=1769817600", ROWLOCK_MANUAL, written.path()});
    EXPECT_EQ(end.code, 0) << end.errors;
    return written;
  }
};

TEST_F(ManPageTest, ManHasNoWarnings) {
  const std::string show = "man --warnings -E UTF-8 -l -Tutf8 \"$@\" >/dev/null";
  expect_silence_of({"sh", "-c", show, "sh"});
}

TEST_F(ManPageTest, GroffAndMandocHaveNoWarnings) {
  expect_silence_of({"groff", "-man", "-ww", "-z"});
  expect_silence_of({"mandoc", "-T", "lint"});
}

TEST_F(ManPageTest, EverySubcommandHasAPageAndStandsInThatOfRowlock) {
  EXPECT_EQ(pages().size(), commands_.size());
  const auto rowlock = shown(page_of(*tree_));
  for (const auto* subcommand : cli::subcommands_of(*tree_)) {
    EXPECT_TRUE(std::filesystem::exists(page_of(*subcommand))) << subcommand->get_name();
    EXPECT_THAT(rowlock, HasSubstr("rowlock-" + subcommand->get_name() + "(1) " +
                                   subcommand->get_description() + '.'));
  }
}

TEST_F(ManPageTest, EveryOptionStandsInItsPage) {
  for (const auto* command : commands_) {
    const auto page = shown(page_of(*command));
    for (const auto* option : command->get_options()) {
      // Its names and its value before its description.
      auto names = option->get_name(option->get_positional(), !option->get_positional());
      for (auto at = names.find(','); at != std::string::npos; at = names.find(',', at + 2)) {
        names.insert(at + 1, " ");
      }
      if (option->get_type_size() != 0 && !option->get_positional()) {
        const auto type = option->get_type_name();
        names += ' ' + type.substr(0, type.find(":{"));
      }
      EXPECT_THAT(page, HasSubstr(in_one_line(names + ' ' + option->get_description())));
      EXPECT_THAT(page, HasSubstr(option->get_default_str()));
    }
  }
}

TEST_F(ManPageTest, WhichOptionsGoTogetherStandsInThePage) {
  const auto migrate = shown(page_of(*tree_->get_subcommand("migrate")));
  EXPECT_THAT(migrate, HasSubstr("Not together with --url-file."));
  EXPECT_THAT(migrate, HasSubstr("Needs --print. Not together with --down or --without."));
}

/// But for the words before a colon that become a title.
TEST_F(ManPageTest, EveryLineOfTheHelpTextStandsInItsPage) {
  for (const auto* command : commands_) {
    const auto page = shown(page_of(*command));
    std::istringstream help{command->get_footer()};
    bool is_first = true;
    for (std::string line; std::getline(help, line); is_first = line.empty()) {
      const bool has_title = is_first && (line.ends_with(':') || line.starts_with("Exit code"));
      if (has_title) continue;
      EXPECT_THAT(page, HasSubstr(in_one_line(line))) << command->get_name();
    }
  }
}

TEST_F(ManPageTest, TheTitlesAreThoseOfManPages) {
  const auto page = shown(page_of(*tree_->get_subcommand("run")));
  std::size_t at = 0;
  for (const auto* title : {"NAME rowlock-run - ", "SYNOPSIS rowlock run [URL] --type TYPE",
                            "DESCRIPTION Run a command", "OPTIONS URL ", "EXIT STATUS That of ",
                            "ENVIRONMENT ROWLOCK_TYPE", "EXAMPLES rowlock run ", "SEE ALSO "}) {
    at = page.find(title, at);
    EXPECT_NE(at, std::string::npos) << title;
  }
}

TEST_F(ManPageTest, EveryCharacterIsShownAsItIs) {
  const temp_folder folder;
  const auto page = folder.path() / "odd.1";
  CLI::App odd{"It's `odd`", "odd"};
  const std::string text =
      R"(.so begins no request. A backslash: \n \fB \\ and ~/.file, x^2, "quotes".

'tis a quote at the begin, and --an-option - a dash.

Odd:
  .term  'text \(aq
         .more

Example:
  .literal \fI 'line'
  'quoted'  -- x)";
  odd.footer(text);
  std::ofstream{page} << cli::man_page_of(odd, "2026-01-31");
  const auto seen = shown(page);
  EXPECT_THAT(seen, HasSubstr("odd - It's `odd`"));
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(':')) continue;
    EXPECT_THAT(seen, HasSubstr(in_one_line(line)));
  }
  EXPECT_EQ(run({"groff", "-man", "-ww", "-z", page}).errors, "");
}

TEST_F(ManPageTest, TheDateAndTheVersionAreThoseOfTheSource) {
  const auto version = run_rowlock({"--version"}).output;
  for (const auto& page : pages()) {
    EXPECT_THAT(shown(page), HasSubstr(in_one_line(version) + " 2026-01-31 ROWLOCK"));
  }
}

TEST_F(ManPageTest, ADateThatIsNoneIsRefused) {
  for (const auto* wrong : {"", "soon", "1x", "99999999999999999999", "999999999999999999"}) {
    const temp_folder folder;
    const auto refused =
        run({"env", std::string{"SOURCE_DATE_EPOCH="} + wrong, ROWLOCK_MANUAL, folder.path()});
    EXPECT_EQ(refused.code, 1) << wrong;
    EXPECT_THAT(refused.errors, HasSubstr("SOURCE_DATE_EPOCH is no number of seconds"));
  }
}

}  // namespace

}  // namespace rowlock::tests
