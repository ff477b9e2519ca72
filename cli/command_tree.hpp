// The command line of rowlock: its subcommands, their options, and what is said of them.
#ifndef ROWLOCK_CLI_COMMAND_TREE_HPP
#define ROWLOCK_CLI_COMMAND_TREE_HPP

#include <memory>
#include <string>
#include <vector>

#include "cli/action.hpp"

namespace rowlock::cli {

/// Parses command lines; --help, the man pages and the completion scripts are made from it, too.
/// `command` is the part after `--`. It and `chosen` must outlive the tree.
std::unique_ptr<CLI::App> command_tree(const std::vector<std::string>& command, action& chosen);

/// The subcommands in the order of the help text.
std::vector<const CLI::App*> subcommands_of(const CLI::App& tree);

}  // namespace rowlock::cli

#endif
