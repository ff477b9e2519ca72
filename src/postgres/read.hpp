// Reading rows on PostgreSQL, for those who lock, commit against or wait for them.
#ifndef ROWLOCK_POSTGRES_READ_HPP
#define ROWLOCK_POSTGRES_READ_HPP

#include <optional>
#include <span>
#include <vector>

#include "postgres/session.hpp"

namespace rowlock::postgres {

// The calls of the port of these names, for as many keys as one statement may take. They throw what
// the driver throws, but for contention, which is an answer.

std::vector<std::optional<row_state>> read(store_call& asking, std::span<const lock_key> keys);
std::vector<std::optional<row_state>> prepare(store_call& asking, std::span<const lock_key> keys);
std::vector<std::optional<row_state>> watch(store_call& asking, std::span<const lock_key> keys);

}  // namespace rowlock::postgres

#endif
