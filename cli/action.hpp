// The action that a command line selects.
#ifndef ROWLOCK_CLI_ACTION_HPP
#define ROWLOCK_CLI_ACTION_HPP

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rowlock::cli {

/// Runs the subcommand and returns the exit code. Throws `error` and `command_error`.
using action = std::function<int()>;

// Each adds one subcommand to `app`, and sets `chosen` if the command line names it.
void add_migrate(CLI::App& app, action& chosen);
void add_doctor(CLI::App& app, action& chosen);
void add_list(CLI::App& app, action& chosen);
void add_top(CLI::App& app, action& chosen);
void add_show(CLI::App& app, action& chosen);
void add_release(CLI::App& app, action& chosen);
void add_history(CLI::App& app, action& chosen);
void add_purge(CLI::App& app, action& chosen);
void add_serve(CLI::App& app, action& chosen);
void add_report(CLI::App& app, action& chosen);
void add_completion(CLI::App& app, action& chosen);
/// `command` is the part after `--`; it must outlive the action.
void add_run(CLI::App& app, const std::vector<std::string>& command, action& chosen);
void add_lead(CLI::App& app, const std::vector<std::string>& command, action& chosen);

}  // namespace rowlock::cli

#endif
