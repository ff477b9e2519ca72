// rowlock completion: a script with which a shell completes rowlock's command lines.
#include "cli/manual/completion.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "cli/action.hpp"
#include "cli/choice.hpp"
#include "cli/exit_codes.hpp"

namespace rowlock::cli {

namespace {

using script_writer = std::string (*)(const CLI::App& tree);
constexpr choices<script_writer, 3> shells{
    {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

constexpr auto completion_help =
    R"(It completes subcommands, options, words and files that options take, and the command of run and lead. The
script contains all of this: rowlock is not started for it. Packages install it for all users, so that it
need not be printed.

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
  completion->add_option("SHELL", *shell, "The shell")
      ->type_name(type_name_of("SHELL", shells))
      ->required();
  completion->footer(completion_help);
  completion->callback([shell, &app, &chosen] {
    chosen = [shell, &app] {
      std::cout << chosen_of("SHELL", *shell, shells)(app);
      return exit_code::success;
    };
  });
}

}  // namespace rowlock::cli
