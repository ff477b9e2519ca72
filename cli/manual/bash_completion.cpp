// Completion script for bash.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/locked_command.hpp"
#include "cli/manual/completion.hpp"
#include "cli/manual/option_text.hpp"
#include "cli/shell_text.hpp"

namespace rowlock::cli {

namespace {

/// Bash divides words at `=` and `:`. Only `=` after an option matters here.
constexpr auto bash_script = R"(# Completion of rowlock for bash, made by `rowlock completion bash`.
_rowlock() {
  local current=${2-} option=${COMP_WORDS[COMP_CWORD - 1]} subcommand='' words='' mark=0 at
  COMPREPLY=()
  [[ $current != '=' ]] || current=
  if [[ ${COMP_WORDS[COMP_CWORD]} == '=' || $option == '=' ]]; then
    [[ $option != '=' ]] || option=${COMP_WORDS[COMP_CWORD - 2]}
    [[ $option == --* ]] || return 0
  fi
  for ((at = 1; at < COMP_CWORD; ++at)); do
    case ${COMP_WORDS[at]} in
      --) mark=$at; break ;;
      -*) ;;
      *) subcommand=${subcommand:-${COMP_WORDS[at]}} ;;
    esac
  done
  if ((mark > 0)); then
    case $subcommand in
@commands@
    esac
    return 0
  fi
  case $subcommand:$option in
@values@
  esac
  case $subcommand in
@options@
  esac
  _rowlock_words "$words" "$current"
}

_rowlock_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_rowlock_file() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# bash-completion completes the command's own arguments, too.
_rowlock_command() {
  if declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$1"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$2")
  else
    _rowlock_file "$2"
  fi
}

complete -F _rowlock rowlock
)";

/// A branch of `case`.
std::string branch(const std::vector<std::string>& patterns, const std::string& statement) {
  return "    " + joined(patterns, " | ") + ") " + statement + " ;;\n";
}

std::string in_quotes(const std::vector<std::string>& words) {
  return in_shell_quotes(joined(words, " "));
}

/// What is before a value of `option`. An argument with a place is completed after the subcommand.
std::vector<std::string> patterns_of(const std::string& subcommand, const option_text& option) {
  if (option.has_place) return {subcommand + ':' + subcommand};
  std::vector<std::string> patterns;
  const auto begin = subcommand + ':';
  for (const auto& name : option.names) patterns.push_back(begin + name);
  return patterns;
}

/// Completes a value; empty if it is free.
std::string value_statement(const option_text& option) {
  std::string statement;
  if (option.takes_file()) statement = "_rowlock_file \"$current\"; return 0";
  if (!option.words.empty()) {
    statement = "_rowlock_words " + in_quotes(option.words) + " \"$current\"; return 0";
  }
  // An option can stand there, too.
  const bool has_alternative = option.has_place && !statement.empty();
  return has_alternative ? "[[ $current == -* ]] || { " + statement + "; }" : statement;
}

/// The values of all options of `subcommand`.
std::string value_branches(const std::string& subcommand, const std::vector<option_text>& options) {
  std::string branches;
  std::vector<std::string> free;
  for (const auto& option : options) {
    if (option.value.empty()) continue;
    const auto patterns = patterns_of(subcommand, option);
    const auto statement = value_statement(option);
    if (!statement.empty()) {
      branches += branch(patterns, statement);
    } else if (!option.has_place) {
      free.insert(free.end(), patterns.begin(), patterns.end());
    }
  }
  return free.empty() ? branches : branches + branch(free, "return 0");
}

std::vector<std::string> names_in(const std::vector<option_text>& options) {
  std::vector<std::string> names;
  for (const auto& option : options) {
    if (!option.has_place) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

}  // namespace

std::string bash_completion(const CLI::App& tree) {
  std::vector<std::string> begin;
  std::string commands;
  std::string values;
  std::string options;
  for (const auto* each : subcommands_of(tree)) {
    const auto& name = each->get_name();
    const auto all = options_of(*each);
    begin.push_back(name);
    if (takes_a_command(*each)) {
      commands += "  " + branch({name}, "_rowlock_command $((mark + 1)) \"$current\"");
    }
    values += value_branches(name, all);
    options += branch({name}, "words=" + in_quotes(names_in(all)));
  }
  const auto alone = names_in(options_of(tree));
  begin.insert(begin.end(), alone.begin(), alone.end());
  options = branch({"''"}, "words=" + in_quotes(begin)) + options;
  auto script = filled(bash_script, "@commands@", commands);
  script = filled(script, "@values@", values);
  return filled(script, "@options@", options);
}

}  // namespace rowlock::cli
