// Messages of the command, on the standard error.
#ifndef ROWLOCK_CLI_SAY_HPP
#define ROWLOCK_CLI_SAY_HPP

#include <string_view>

namespace rowlock::cli {

/// Writes `rowlock: message` as one line, safe for a terminal.
void say(std::string_view message);

}  // namespace rowlock::cli

#endif
