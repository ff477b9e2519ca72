// Points in time of a database's clock, as text.
#ifndef ROWLOCK_BASE_DATABASE_TIME_HPP
#define ROWLOCK_BASE_DATABASE_TIME_HPP

#include <chrono>
#include <string>

#include "rowlock/detail/export.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// The last moment of the year 9999.
inline constexpr database_time last_database_time{
    std::chrono::microseconds{253'402'300'799'999'999}};

/// `2026-01-31 12:00:00.000000`, as the columns of the databases are shown.
ROWLOCK_EXPORT std::string text_of(database_time shown);

}  // namespace rowlock::detail

#endif
