// The size of the terminal, from the kernel or the environment.
#include "cli/terminal_size.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace rowlock::cli {

namespace {

/// `usual` if the variable is not set, or is not a number from 1 to 10,000.
std::size_t number_in(const char* variable, std::size_t usual) {
  constexpr std::size_t most = 10'000;
  const char* const set = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  const std::string_view text{set == nullptr ? "" : set};
  std::size_t number = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = failure == std::errc{} && rest == text.data() + text.size();
  return is_number && number >= 1 && number <= most ? number : usual;
}

}  // namespace

std::optional<terminal_size> size_of_terminal() {
  if (isatty(STDOUT_FILENO) != 1) return std::nullopt;
  terminal_size size;
  winsize known{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &known) == 0;
  size.columns = is_known && known.ws_col > 0 ? known.ws_col : number_in("COLUMNS", size.columns);
  size.lines = is_known && known.ws_row > 0 ? known.ws_row : number_in("LINES", size.lines);
  return size;
}

}  // namespace rowlock::cli
