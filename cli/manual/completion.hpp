// Completion scripts for shells, made from the command tree.
#ifndef ROWLOCK_CLI_MANUAL_COMPLETION_HPP
#define ROWLOCK_CLI_MANUAL_COMPLETION_HPP

#include <string>

namespace CLI {
class App;
}

namespace rowlock::cli {

// A script contains all that it completes: it does not start rowlock.
std::string bash_completion(const CLI::App& tree);
std::string zsh_completion(const CLI::App& tree);
std::string fish_completion(const CLI::App& tree);

}  // namespace rowlock::cli

#endif
