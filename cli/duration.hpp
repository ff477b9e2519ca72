// Durations as people write them on a command line.
#ifndef ROWLOCK_CLI_DURATION_HPP
#define ROWLOCK_CLI_DURATION_HPP

#include <chrono>
#include <string>
#include <string_view>

namespace rowlock::cli {

/// `500ms`, `30s`, `5m`, `2h`, `1d`: a whole number and one unit, at most 365 days. Throws `error`
/// (misuse) that names the `option` for everything else, including a number without a unit.
/// `or_else` is what the caller takes besides, for the message: `, or forever`.
std::chrono::milliseconds parse_duration(std::string_view option, std::string_view text,
                                         const std::string& or_else = {});

/// The reverse, rounded for people: `12.5s`, `3m 20s`, `2h 5m`.
std::string show_duration(std::chrono::microseconds shown);

}  // namespace rowlock::cli

#endif
