// rowlock completion: a script with which a shell completes rowlock's command lines, and rowlock
// complete, which that script asks.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/completion_scripts.hpp"
#include "cli/exit_codes.hpp"
#include "cli/locked_command.hpp"
#include "cli/manual/option_text.hpp"
#include "cli/values.hpp"

namespace rowlock::cli {

namespace {

using word_list = std::vector<std::string>;

bool contains(const word_list& all, const std::string& word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

bool have_common(const word_list& some, const word_list& others) {
  return std::any_of(some.begin(), some.end(),
                     [&others](const std::string& word) { return contains(others, word); });
}

/// The words of the command line behind `rowlock`, up to the cursor. Each ends with a NUL.
word_list read_words() {
  word_list all;
  for (std::string word; std::getline(std::cin, word, '\0');) all.push_back(word);
  return all;
}

/// `--name=value` as two words, as they are without the `=`. Bash makes three of them.
word_list without_equals(const word_list& typed) {
  word_list parts;
  for (const auto& word : typed) {
    const bool is_of_option = !parts.empty() && parts.back().starts_with("--");
    const auto equals = word.find('=');
    if (word.starts_with("--") && equals != std::string::npos) {
      parts.push_back(word.substr(0, equals));
      parts.push_back(word.substr(equals + 1));
    } else if (word != "=" || !is_of_option) {
      parts.push_back(word);
    } else if (&word == &typed.back()) {
      parts.emplace_back();
    }
  }
  return parts;
}

/// Null if none is named.
const CLI::App* subcommand_in(const word_list& given, const CLI::App& tree) {
  const auto named = std::find_if(given.begin(), given.end(),
                                  [](const std::string& word) { return !word.starts_with('-'); });
  for (const auto* each : subcommands_of(tree)) {
    if (named != given.end() && each->get_name() == *named) return each;
  }
  return nullptr;
}

/// A line of the answer; the description is for those shells that show it.
void offer(const std::string& word, const std::string& description = {}) {
  std::cout << word << '\t' << description << '\n';
}

/// What may stand behind the words before it, if it is no option. Whether that is all.
bool offer_values(const word_list& before, const CLI::App& tree) {
  const auto* subcommand = subcommand_in(before, tree);
  if (subcommand == nullptr) {
    for (const auto* each : subcommands_of(tree)) offer(each->get_name(), each->get_description());
    return true;
  }
  for (const auto& option : options_of(*subcommand)) {
    const bool is_next = option.has_place ? before.back() == subcommand->get_name()
                                          : contains(option.names, before.back());
    if (!is_next || option.value.empty()) continue;
    if (option.takes_file()) std::cout << ":file\n";
    for (const auto& word : option.words) offer(word);
    // An option may stand there instead of a place.
    return !option.has_place || !option.words.empty();
  }
  return false;
}

void offer_options(const word_list& before, const CLI::App& command) {
  for (const auto& option : options_of(command)) {
    const bool is_given = have_common(option.names, before) && !option.is_repeatable;
    if (option.has_place || is_given || have_common(option.excludes, before)) continue;
    for (const auto& name : option.names) offer(name, option.description);
  }
}

/// Each line is a word that fits and its description, or `:file`, or `:command N` where the command
/// of run or lead, which begins with the word N of the line, is to be completed like a line of its
/// own.
int complete_now(const CLI::App& tree) {
  const auto typed = read_words();
  if (typed.empty()) return exit_code::success;
  const auto mark = std::find(typed.begin(), typed.end() - 1, "--");
  auto before = without_equals({typed.begin(), mark + 1});
  const auto current = before.back();
  before.pop_back();
  const auto* subcommand = subcommand_in(before, tree);
  if (mark != typed.end() - 1) {
    const bool has_command = subcommand != nullptr && takes_a_command(*subcommand);
    if (has_command) std::cout << ":command " << mark - typed.begin() + 2 << '\n';
    return exit_code::success;
  }
  const bool is_value = !current.starts_with('-') && offer_values(before, tree);
  if (!is_value) offer_options(before, subcommand == nullptr ? tree : *subcommand);
  return exit_code::success;
}

constexpr auto completion_help =
    R"(It completes subcommands, options, words and files that options take, and the command of run and lead. The
script asks rowlock what fits. Packages install it for all users, so that it need not be printed.

Files:
  ~/.bashrc                               bash reads it: source the script there
  ~/.config/fish/completions/rowlock.fish  fish reads it when it completes rowlock first
  _rowlock                                zsh reads it, in a folder of $fpath, when compinit has run

Examples:
  source <(rowlock completion bash)
  rowlock completion zsh > "${fpath[1]}/_rowlock"
  rowlock completion fish > ~/.config/fish/completions/rowlock.fish)";

}  // namespace

void add_completion(CLI::App& app, action& chosen) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script for the completion of a shell");
  add_value(*completion, "SHELL " + type_name_of("SHELL", completion_scripts), *shell, "The shell")
      ->required();
  completion->footer(completion_help);
  completion->callback([shell, &chosen] {
    chosen = [shell] {
      std::cout << chosen_of("SHELL", *shell, completion_scripts);
      return exit_code::success;
    };
  });
  CLI::App* complete = app.add_subcommand("complete", "For the script")->group("");  // hidden
  complete->callback([&app, &chosen] { chosen = [&app] { return complete_now(app); }; });
}

}  // namespace rowlock::cli
