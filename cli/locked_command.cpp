// Options and start of a command under a lock, for run and lead.
#include "cli/locked_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "cli/command_path.hpp"
#include "cli/duration.hpp"
#include "cli/exit_codes.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

/// CLI11 does not parse the command, where it would read brackets as lists, so the usage line names
/// it here.
class command_formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    return "Usage: rowlock " + app->get_name() +
           " [URL] --type TYPE --source SOURCE [OPTIONS] -- COMMAND [ARGUMENT...]\n";
  }
};

command to_command(const std::vector<std::string>& arguments, bool has_own_group) {
  if (arguments.empty()) {
    throw error{errc::misuse,
                "no command to run: write it after --, as in ... -- sync-invoices -v"};
  }
  return {.path = find_command(arguments.front()),
          .arguments = arguments,
          .environment = {},
          .has_own_group = has_own_group};
}

lock_options to_locking(const locked_command_options& options) {
  lock_options locking{.ttl = parse_duration("--ttl", options.ttl), .holder = options.holder};
  locking.durable_release = options.durable_release;
  if (locking.ttl <= locking.margin) {
    throw error{errc::misuse, "--ttl " + options.ttl + " is too short: write more than " +
                                  std::to_string(locking.margin.count()) +
                                  "ms, which is how long before its end the key counts as lost"};
  }
  if (options.at_most) locking.at_most = parse_duration("--at-most", *options.at_most);
  if (locking.at_most && *locking.at_most < locking.ttl) {
    throw error{errc::misuse, "--at-most " + *options.at_most +
                                  " is shorter than the lease, which is not ended before its "
                                  "--ttl of " +
                                  options.ttl + ": write " + options.ttl +
                                  " or more, or a shorter --ttl"};
  }
  return locking;
}

}  // namespace

void locked_command_options::add_to(CLI::App& subcommand) {
  where.add_to(subcommand);
  which.add_to(subcommand);
  subcommand.add_option("--ttl", ttl, "How long the key stays taken after this process dies")
      ->type_name("DURATION")
      ->capture_default_str();
  subcommand
      .add_option("--at-most", at_most,
                  "Stop renewing after this long, so that a command that hangs loses the key")
      ->type_name("DURATION");
  subcommand.add_option("--grace", grace, "From SIGTERM to SIGKILL when the key was lost")
      ->type_name("DURATION")
      ->capture_default_str();
  subcommand.add_option("--holder", holder, "A label for people; host:pid if not given")
      ->type_name("LABEL");
  subcommand.add_option("--lost-exit-code", lost_exit_code, "The exit code when the key was lost")
      ->type_name("CODE")
      ->capture_default_str();
  subcommand.add_flag("--durable-release", durable_release,
                      "Have the release wait for the disk, so that no crash undoes it");
  subcommand.add_flag("--process-group", process_group,
                      "Signal and end what the command starts, too");
  subcommand.formatter(std::make_shared<command_formatter>());
}

bool takes_a_command(const CLI::App& subcommand) {
  return dynamic_cast<const command_formatter*>(subcommand.get_formatter().get()) != nullptr;
}

std::string lost_too_soon(const lock_key& key) {
  std::ostringstream message;
  message << key << " was lost before the command ended: others may have run at the same time";
  return message.str();
}

std::string no_answer(const locked_command_options& options) {
  return "the database does not answer: ended without it; if " + options.which.in_words() +
         " is ours, it frees itself within " + options.ttl;
}

locked_command::locked_command(const locked_command_options& options,
                               const std::vector<std::string>& arguments)
    : command_{to_command(arguments, options.process_group)},
      locking_{to_locking(options)},
      grace_{parse_duration("--grace", options.grace)},
      lost_exit_code_{exit_code::parse("--lost-exit-code", options.lost_exit_code)} {}

command_end locked_command::run(const lease& held, signal_queue& signals) const {
  command started = command_;
  started.environment =
      environment_with({"ROWLOCK_TYPE=" + held.key().type, "ROWLOCK_SOURCE=" + held.key().source_id,
                        "ROWLOCK_TOKEN=" + std::to_string(held.token().number)});
  return supervise(held, started, signals, grace_);
}

}  // namespace rowlock::cli
