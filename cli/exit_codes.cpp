// Parser of exit codes in options.
#include "cli/exit_codes.hpp"

#include <charconv>
#include <string>

namespace rowlock::cli::exit_code {

int parse(std::string_view option, std::string_view text) {
  constexpr int greatest = 255;
  int code = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, code);
  if (failure != std::errc{} || rest != end || code < 0 || code > greatest) {
    throw error{errc::misuse, std::string{option} + " is not an exit code: write 0 to 255"};
  }
  return code;
}

}  // namespace rowlock::cli::exit_code
