// What operators see: the server, the rights of a role there, and the history.
#ifndef ROWLOCK_POSTGRES_INSPECTING_HPP
#define ROWLOCK_POSTGRES_INSPECTING_HPP

#include <cstddef>
#include <optional>
#include <vector>

#include "postgres/executor.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::postgres {

// They throw the driver's exceptions. The first three take one round trip.

std::vector<int> version_of(executor& exec);

/// None without a table.
std::optional<std::vector<inspection::missing_right>> missing_rights(executor& exec);

/// See `inspection::connection_limit`.
std::optional<int> connection_limit(executor& exec);

/// See `store::history`.
history_page history(executor& exec, const history_request& request);
std::size_t purge_history(executor& exec, const history_purge_request& request);

}  // namespace rowlock::postgres

#endif
