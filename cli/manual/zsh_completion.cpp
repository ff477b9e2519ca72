// Completion script for zsh.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/locked_command.hpp"
#include "cli/manual/completion.hpp"
#include "cli/manual/option_text.hpp"
#include "cli/shell_text.hpp"

namespace rowlock::cli {

namespace {

constexpr auto zsh_script = R"(#compdef rowlock
# Completion of rowlock for zsh, made by `rowlock completion zsh`.
_rowlock() {
  local curcontext=$curcontext context state state_descr line
  local -A opt_args
  local -a rowlock_commands=(
@commands@
  )
  _arguments -C \
@options@
    '1: :->command' \
    '*:: :->arguments' && return
  case $state in
    command) _describe -t commands 'rowlock command' rowlock_commands ;;
    arguments)
      if (( ${words[(i)--]} < CURRENT )); then
        case $words[1] in
@marked@
          *) return 1 ;;
        esac
        return
      fi
      case $words[1] in
@arguments@
      esac
      ;;
  esac
}

_rowlock_command() {
  local -i mark=${words[(i)--]}
  shift $mark words
  (( CURRENT -= mark ))
  _normal
}

if [[ ${funcstack[1]-} == _rowlock ]]; then
  _rowlock "$@"
else
  compdef _rowlock rowlock
fi
)";

std::string action_of(const option_text& option) {
  if (option.takes_file()) return "_files";
  return option.words.empty() ? " " : '(' + joined(option.words, " ") + ')';
}

/// What is no longer offered beside it. Arguments with a place have numbers.
std::string excluded_by(const option_text& option, const std::vector<std::string>& places) {
  if (option.is_alone) return "(- *)";
  std::vector<std::string> names;
  if (option.names.size() > 1 && !option.is_repeatable) names = option.names;
  for (const auto& name : option.excludes) {
    const auto place = std::find(places.begin(), places.end(), name);
    names.push_back(place == places.end() ? name : std::to_string(place - places.begin() + 1));
  }
  return names.empty() ? "" : '(' + joined(names, " ") + ')';
}

/// As _arguments has it: `(excluded){-s+,--long=}[description]:value:action`.
std::string spec_of(const option_text& option, const std::vector<std::string>& places) {
  const auto excluded = excluded_by(option, places) + (option.is_repeatable ? "*" : "");
  const auto value =
      option.value.empty() ? "" : ':' + escaped(option.value, "\\:") + ':' + action_of(option);
  if (option.has_place) {
    const auto place = std::find(places.begin(), places.end(), option.names.front());
    return in_shell_quotes(excluded + std::to_string(place - places.begin() + 1) +
                           (option.is_required ? "" : ":") + value);
  }
  std::vector<std::string> names;
  for (const auto& name : option.names) {
    const auto* const end = option.value.empty() ? "" : name.starts_with("--") ? "=" : "+";
    names.push_back(name + end);
  }
  const auto rest = '[' + escaped(option.description, "\\[]") + ']' + value;
  if (names.size() == 1) return in_shell_quotes(excluded + names.front() + rest);
  return in_shell_quotes(excluded) + '{' + joined(names, ",") + '}' + in_shell_quotes(rest);
}

std::vector<std::string> specs_of(const CLI::App& command) {
  const auto options = options_of(command);
  std::vector<std::string> places;
  for (const auto& option : options) {
    if (option.has_place) places.push_back(option.names.front());
  }
  std::vector<std::string> specs;
  specs.reserve(options.size());
  for (const auto& option : options) specs.push_back(spec_of(option, places));
  return specs;
}

}  // namespace

std::string zsh_completion(const CLI::App& tree) {
  std::string commands;
  std::string marked;
  std::string arguments;
  for (const auto* each : subcommands_of(tree)) {
    const auto& name = each->get_name();
    commands +=
        "    " + in_shell_quotes(name + ':' + escaped(each->get_description(), "\\:")) + '\n';
    if (takes_a_command(*each)) marked += "          " + name + ") _rowlock_command ;;\n";
    arguments += "        " + name + ") _arguments \\\n          " +
                 joined(specs_of(*each), " \\\n          ") + " ;;\n";
  }
  auto script = filled(zsh_script, "@commands@", commands);
  script = filled(script, "@options@", "    " + joined(specs_of(tree), " \\\n    ") + " \\\n");
  script = filled(script, "@marked@", marked);
  return filled(script, "@arguments@", arguments);
}

}  // namespace rowlock::cli
