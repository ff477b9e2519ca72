// The size of the terminal behind the standard output.
#ifndef ROWLOCK_CLI_TERMINAL_SIZE_HPP
#define ROWLOCK_CLI_TERMINAL_SIZE_HPP

#include <cstddef>
#include <optional>

namespace rowlock::cli {

struct terminal_size {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

/// None if the standard output is no terminal. What the terminal does not know is taken from
/// COLUMNS and LINES, else it is 80 and 24.
std::optional<terminal_size> size_of_terminal();

}  // namespace rowlock::cli

#endif
