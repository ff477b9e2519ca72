// Exit codes of the rowlock command, which the help text lists, and faults that choose one.
#ifndef ROWLOCK_CLI_EXIT_CODES_HPP
#define ROWLOCK_CLI_EXIT_CODES_HPP

#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/values.hpp"
#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace exit_code {

inline constexpr int success = 0;
inline constexpr int usage = 64;
inline constexpr int missing = 66;
inline constexpr int unavailable = 69;
inline constexpr int outcome_unknown = 70;
inline constexpr int output_failed = 74;
inline constexpr int not_acquired = 75;
inline constexpr int not_done = 75;
inline constexpr int not_all_well = 75;
inline constexpr int lost = 76;
inline constexpr int not_runnable = 126;
inline constexpr int not_found = 127;

/// As shells report it.
constexpr int ended_by_signal(int number) { return 128 + number; }

/// Parses 0 to 255, the value of `option`. Throws `error` (misuse).
inline int parse(std::string_view option, std::string_view text) {
  constexpr int greatest = 255;
  const int code = whole_number<int>(text).value_or(-1);
  if (code >= 0 && code <= greatest) return code;
  throw misuse("{} is not an exit code: write 0 to 255", option);
}

/// `unavailable` and `rejected` share a code: a calling script can do nothing about either, and the
/// message says to people which it is.
constexpr int of(errc kind) {
  switch (kind) {
    case errc::unavailable:
    case errc::rejected:
      return unavailable;
    case errc::outcome_unknown:
      return outcome_unknown;
    case errc::misuse:
      return usage;
    case errc::lease_lost:
      return lost;
  }
  return outcome_unknown;
}

}  // namespace exit_code

/// A fault with an exit code of its own: a command that cannot be run (126 or 127, as in shells; 69
/// when the system cannot start a process at all), or an output that cannot be written (74).
class command_error : public std::runtime_error {
 public:
  command_error(int exit_code, const std::string& message)
      : std::runtime_error{message}, exit_code_{exit_code} {}

  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

}  // namespace rowlock::cli

#endif
