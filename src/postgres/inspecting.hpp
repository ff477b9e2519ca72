// The version of a PostgreSQL server, and the rights of a role there.
#ifndef ROWLOCK_POSTGRES_INSPECTING_HPP
#define ROWLOCK_POSTGRES_INSPECTING_HPP

#include <optional>
#include <vector>

#include "postgres/executor.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::postgres {

// All take one round trip, and throw the driver's exceptions.

std::vector<int> version_of(executor& exec);

/// None without a table.
std::optional<std::vector<inspection::missing_right>> missing_rights(executor& exec);

/// See `inspection::connection_limit`.
std::optional<int> connection_limit(executor& exec);

}  // namespace rowlock::postgres

#endif
