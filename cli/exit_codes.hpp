// Exit codes of the rowlock command. The help text lists them.
#ifndef ROWLOCK_CLI_EXIT_CODES_HPP
#define ROWLOCK_CLI_EXIT_CODES_HPP

#include <string_view>

#include "rowlock/error.hpp"

namespace rowlock::cli::exit_code {

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
int parse(std::string_view option, std::string_view text);

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

}  // namespace rowlock::cli::exit_code

#endif
