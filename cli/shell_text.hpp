// Text in shell scripts.
#ifndef ROWLOCK_CLI_SHELL_TEXT_HPP
#define ROWLOCK_CLI_SHELL_TEXT_HPP

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

/// One word for bash and zsh, whatever is in it.
std::string in_shell_quotes(std::string_view text);

std::string joined(const std::vector<std::string>& words, std::string_view between);

}  // namespace rowlock::cli

#endif
