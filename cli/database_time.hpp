// Points in time of the database's clock.
#ifndef ROWLOCK_CLI_DATABASE_TIME_HPP
#define ROWLOCK_CLI_DATABASE_TIME_HPP

#include <optional>
#include <string>
#include <string_view>

#include "rowlock/port/requests.hpp"

namespace rowlock::cli {

/// Reads `2026-01-31 12:00:00.000000` as well as RFC 3339 in UTC, with 0 to 6 digits after the
/// second. None for any other text.
std::optional<database_time> parse_database_time(std::string_view text);

/// A time of a command line: as above, or `30m`, so long before `now`, or `now`. Throws `error`
/// (misuse) that names the `option`.
database_time parse_moment(std::string_view option, const std::string& text, database_time now);

/// `2026-01-31T12:00:00.000000Z`.
std::string to_rfc3339(database_time shown);

}  // namespace rowlock::cli

#endif
