// A man page, made from the command tree.
#ifndef ROWLOCK_CLI_MANUAL_MAN_PAGE_HPP
#define ROWLOCK_CLI_MANUAL_MAN_PAGE_HPP

#include <string>

namespace CLI {
class App;
}

namespace rowlock::cli {

/// `rowlock`, or `rowlock-run` for a subcommand.
std::string page_name_of(const CLI::App& command);

/// Section 1. `date` is as in 2026-01-31, or empty.
std::string man_page_of(const CLI::App& command, const std::string& date);

}  // namespace rowlock::cli

#endif
