// Text in shell scripts.
#ifndef ROWLOCK_CLI_SHELL_TEXT_HPP
#define ROWLOCK_CLI_SHELL_TEXT_HPP

#include <string>
#include <string_view>
#include <vector>

namespace rowlock::cli {

/// `text` with a backslash before each of `characters`.
std::string escaped(std::string_view text, std::string_view characters);

/// One word for bash and zsh, whatever is in it.
std::string in_shell_quotes(std::string_view text);

std::string joined(const std::vector<std::string>& words, std::string_view between);

/// `script` with `text` for the line `mark`.
std::string filled(std::string_view script, std::string_view mark, std::string_view text);

}  // namespace rowlock::cli

#endif
