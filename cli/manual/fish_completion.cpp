// Completion script for fish.
#include <CLI/CLI.hpp>
#include <string>

#include "cli/command_tree.hpp"
#include "cli/locked_command.hpp"
#include "cli/manual/completion.hpp"
#include "cli/manual/option_text.hpp"
#include "cli/shell_text.hpp"

namespace rowlock::cli {

namespace {

constexpr auto fish_begin =
    R"fish(# Completion of rowlock for fish, made by `rowlock completion fish`.

# Prints the subcommand, if there is one already.
function __rowlock_subcommand
    for word in (commandline -opc)[2..]
        if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
end

# Whether the subcommand is $argv[1], and its command has not begun.
function __rowlock_is
    set -l subcommand (__rowlock_subcommand)
    test "$subcommand" = $argv[1]
    and not contains -- -- (commandline -opc)
end

# Whether the subcommand is $argv[1], and its command has begun.
function __rowlock_runs
    set -l subcommand (__rowlock_subcommand)
    test "$subcommand" = $argv[1]
    and contains -- -- (commandline -opc)
end

function __rowlock_command
    set -l words (commandline -opc)
    set -e words[1..(contains -i -- -- $words)]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c rowlock -f
)fish";

std::string in_fish_quotes(std::string_view text) { return '\'' + escaped(text, "\\'") + '\''; }

/// Where it is offered: after `subcommand`, or before all of them.
std::string line_of(const option_text& option, const std::string& subcommand) {
  std::string line = "complete -c rowlock -n '__rowlock_is \"" + subcommand + "\"'";
  for (const auto& name : option.names) {
    if (option.has_place) break;
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.takes_file()) {
    line += " -r -F";
  } else if (!option.value.empty()) {
    line += option.has_place ? "" : " -x";
    if (!option.words.empty()) line += " -a " + in_fish_quotes(joined(option.words, " "));
  }
  return line + " -d " + in_fish_quotes(option.description) + '\n';
}

}  // namespace

std::string fish_completion(const CLI::App& tree) {
  std::string script = fish_begin;
  const auto add_options_of = [&script](const CLI::App& command, const std::string& subcommand) {
    for (const auto& option : options_of(command)) {
      const bool has_nothing_to_offer = option.has_place && option.words.empty();
      if (!has_nothing_to_offer) script += line_of(option, subcommand);
    }
  };
  add_options_of(tree, "");
  for (const auto* each : subcommands_of(tree)) {
    const auto& name = each->get_name();
    script += "\ncomplete -c rowlock -n '__rowlock_is \"\"' -a " + name + " -d " +
              in_fish_quotes(each->get_description()) + '\n';
    add_options_of(*each, name);
    if (takes_a_command(*each)) {
      script += "complete -c rowlock -n '__rowlock_runs " + name + "' -a '(__rowlock_command)'\n";
    }
  }
  return script;
}

}  // namespace rowlock::cli
