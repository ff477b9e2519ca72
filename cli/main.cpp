// The rowlock command: parses the command line, and turns faults into messages and exit codes.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_tree.hpp"
#include "cli/exit_codes.hpp"
#include "cli/fault_text.hpp"
#include "cli/locked_command.hpp"
#include "cli/say.hpp"
#include "cli/values.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

/// The message if the first argument looks like a subcommand and is none. Otherwise empty: it may
/// be a URL with a password.
std::string unknown_subcommand(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || !app.get_subcommands().empty()) return {};
  const std::string& first = arguments.front();
  constexpr std::size_t longest_shown = 16;
  const bool is_word =
      !first.empty() && first.size() <= longest_shown &&
      std::all_of(first.begin(), first.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  if (!is_word) return {};
#ifndef ROWLOCK_WEB
  if (first == "serve" || first == "report") {
    return first +
           " is not a command of rowlock as it was built: build it with the CMake option "
           "ROWLOCK_WEB";
  }
#endif
  std::vector<std::string> names;
  for (const auto* subcommand : subcommands_of(app)) names.push_back(subcommand->get_name());
  return fmt::format("{} is not a command of rowlock: write {}", first, one_of(names));
}

int wrong_usage(const CLI::App& app, const std::string& what) {
  const auto chosen = app.get_subcommands();
  const std::string subcommand = chosen.empty() ? "" : ' ' + chosen.front()->get_name();
  say(what + "; see rowlock" + subcommand + " --help");
  return exit_code::usage;
}

bool has_chosen_what_takes_a_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return !chosen.empty() && takes_a_command(*chosen.front());
}

/// Empty if there is none. Without a value, which may be a URL with a password.
std::string unknown_option(const CLI::App& app) {
  for (const auto& extra : app.remaining(true)) {
    if (!extra.starts_with("-")) continue;
    const auto is_of_a_name = [](char c) { return c == '-' || std::isalnum(c) != 0; };
    const auto end = std::find_if_not(extra.begin(), extra.end(), is_of_a_name);
    return "unknown option " + std::string{extra.begin(), end};
  }
  return {};
}

/// Without the arguments themselves, which may be part of a URL with a password.
std::string what_is_extra(const CLI::App& app, bool is_command_missing) {
  auto extra = unknown_option(app);
  if (extra.empty()) extra = "an argument too many";
  if (!is_command_missing || !has_chosen_what_takes_a_command(app)) return extra;
  return extra + ": the command to run and its options stand after --";
}

/// What is required may be missing because it is mistyped.
std::string what_is_missing(const CLI::App& app, const std::vector<std::string>& arguments,
                            bool is_command_missing, const CLI::RequiredError& missing) {
  if (auto unknown = unknown_subcommand(app, arguments); !unknown.empty()) return unknown;
  return unknown_option(app).empty() ? missing.what() : what_is_extra(app, is_command_missing);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

int perform(const action& chosen) {
  try {
    return chosen();
  } catch (const command_error& fault) {
    say(fault.what());
    return fault.exit_code();
  } catch (const error& fault) {
    say(fault_text(fault));
    return exit_code::of(fault.kind());
  } catch (const std::exception& fault) {
    say(fault.what());
    return exit_code::outcome_unknown;
  }
}

/// `--name=` becomes `--name` and an empty value; CLI11 would take the next argument as the value.
void separate_empty_values(std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& each = arguments[i];
    if (!each.starts_with("--") || each.find('=') != each.size() - 1) continue;
    each.pop_back();
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, "");
  }
}

/// Opens missing standard descriptors. Otherwise a file of this process could become the standard
/// error, which libraries write to.
void occupy_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // Opened for the other direction, it behaves as if closed. It is closed for the command.
    const int direction = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    (void)open("/dev/null", direction | O_CLOEXEC);
  }
}

int run_main(std::vector<std::string> arguments) {
  // The arguments up to the first `--` belong to rowlock; the rest is the command, passed on
  // unchanged.
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  const std::vector<std::string> command{mark == arguments.end() ? mark : mark + 1,
                                         arguments.end()};
  arguments.erase(mark, arguments.end());
  separate_empty_values(arguments);
  const auto given = arguments;

  action chosen;
  const auto tree = command_tree(command, chosen);
  CLI::App& app = *tree;
  try {
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(std::move(arguments));
  } catch (const CLI::Success& requested_text) {
    return app.exit(requested_text);
  } catch (const CLI::ExtrasError&) {
    return wrong_usage(app, what_is_extra(app, command.empty()));
  } catch (const CLI::ConversionError&) {  // its text shows the value; only flags are converted
    return wrong_usage(app, "an option that takes no value was given one");
  } catch (const CLI::RequiredError& missing) {
    return wrong_usage(app, what_is_missing(app, given, command.empty(), missing));
  } catch (const CLI::ExcludesError& both) {  // --down excludes --format
    return wrong_usage(app, replaced(both.what(), " excludes ", " cannot be given with "));
  } catch (const CLI::ArgumentMismatch& missing) {  // --ttl: 1 required DURATION missing
    const std::string text = missing.what();
    const auto end = text.find(": 1 required ");
    return wrong_usage(app,
                       end == std::string::npos ? text : text.substr(0, end) + " needs a value");
  } catch (const CLI::ParseError& wrong) {
    return wrong_usage(app, wrong.what());
  }
  if (!command.empty() && !has_chosen_what_takes_a_command(app)) {
    return wrong_usage(app, "only run and lead take a command after --");
  }
  return perform(chosen);
}

}  // namespace

}  // namespace rowlock::cli

int main(int argc, char** argv) try {
  using namespace rowlock::cli;
  occupy_standard_descriptors();
  int code = run_main({argv + std::min(argc, 1), argv + argc});
  if (!std::cout.flush()) {
    say("the standard output could not be written");
    if (code == exit_code::success) code = exit_code::output_failed;
  }
  await_said();
  return code;
} catch (...) {  // not even a message could be written
  return rowlock::cli::exit_code::outcome_unknown;
}
