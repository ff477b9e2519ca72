// A command that needs a key: its options, its start and its supervision, for run and lead.
#ifndef ROWLOCK_CLI_LOCKED_COMMAND_HPP
#define ROWLOCK_CLI_LOCKED_COMMAND_HPP

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cli/child_process.hpp"
#include "cli/exit_codes.hpp"
#include "cli/options.hpp"
#include "cli/signal_queue.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::cli {

struct locked_command_options {
  table_options where;
  key_options which;
  std::string ttl = "30s";
  std::optional<std::string> renew_for;
  std::optional<std::string> progress_within;
  std::optional<std::string> progress_file;
  std::string grace = "10s";
  std::string holder;
  std::string lost_exit_code = std::to_string(exit_code::lost);
  bool process_group = false;
  bool durable_release = false;
  /// The signal for the command when its holder is asked to yield.
  std::optional<std::string> on_ask;

  void add_to(CLI::App& subcommand);
};

/// Whether `subcommand` has a command after `--`, which its usage line names.
bool takes_a_command(const CLI::App& subcommand);

/// The message for a loss that was found after the command had ended.
std::string lost_too_soon(const lock_key& key);

/// The message when the process ends without an answer of the database.
std::string no_answer(const locked_command_options& options);

/// Thrown so that the row counts a failure.
struct failed_command {
  int exit_code;
};

struct command_end {
  /// The exit code of the command, or 128 + n when signal n ended it or came before it began.
  int exit_code;
  /// SIGINT, SIGTERM or SIGQUIT came to this process. (Many programs read their settings on
  /// SIGHUP.)
  bool was_end_requested;
  /// The lease was lost before the command had ended, and a message has reported that.
  bool was_notified_of_loss;
  /// The holder was asked to yield, and the command got the signal for that.
  bool was_asked = false;
};

/// Passes signals on to the command. When the lease is lost it prints a message, sends SIGTERM, and
/// SIGKILL after `grace`. If the command has a process group of its own and leaves processes in it,
/// they get the same. The call then waits until they are gone. When the holder is asked to yield,
/// the command gets `on_ask`, and may go on. Throws `command_error`.
command_end supervise(const lease& held, const command& to_run, signal_queue& signals,
                      std::chrono::milliseconds grace, std::optional<int> on_ask = std::nullopt);

class locked_command {
 public:
  /// Reads the options and finds the command. Throws `error` (misuse) and `command_error`.
  locked_command(const locked_command_options& options, const std::vector<std::string>& arguments);

  [[nodiscard]] const lock_options& locking() const noexcept { return locking_; }
  /// The exit code when the key was lost.
  [[nodiscard]] int lost_exit_code() const noexcept { return lost_exit_code_; }

  /// Runs the command under the lease, with the key and the token in its environment. See
  /// `supervise`.
  [[nodiscard]] command_end run(const lease& held, signal_queue& signals) const;

 private:
  command command_;
  lock_options locking_;
  std::optional<std::string> progress_file_;
  std::chrono::milliseconds grace_;
  std::optional<int> on_ask_;
  int lost_exit_code_;
};

}  // namespace rowlock::cli

#endif
