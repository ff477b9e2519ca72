// The command line of rowlock: its subcommands, their options, and what is said of them.
#ifndef ROWLOCK_CLI_COMMAND_TREE_HPP
#define ROWLOCK_CLI_COMMAND_TREE_HPP

#include <functional>
#include <memory>
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
void add_watch(CLI::App& app, action& chosen);
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

/// Parses command lines; --help, the man pages and completions are made from it, too.
/// `command` is the part after `--`. It and `chosen` must outlive the tree.
std::unique_ptr<CLI::App> command_tree(const std::vector<std::string>& command, action& chosen);

/// The subcommands in the order of the help text, without hidden ones.
std::vector<const CLI::App*> subcommands_of(const CLI::App& tree);

}  // namespace rowlock::cli

#endif
