// Times of a lease that are out of range.
#ifndef ROWLOCK_LEASE_LEASE_TIMES_HPP
#define ROWLOCK_LEASE_LEASE_TIMES_HPP

#include <chrono>
#include <optional>

#include "rowlock/lock_table.hpp"

namespace rowlock::detail {

/// Throws `error` (misuse).
void check_times(std::chrono::milliseconds ttl, std::optional<std::chrono::milliseconds> renew_for,
                 const lock_options& options);
/// Throws `error` (misuse).
void check_progress(std::optional<std::chrono::milliseconds> within);
/// Throws `error` (misuse).
void check_delay(std::chrono::milliseconds ttl, std::chrono::milliseconds lock_delay);

}  // namespace rowlock::detail

#endif
