// One attempt of a calling thread to acquire several keys.
#ifndef ROWLOCK_LOCK_SET_ACQUISITION_HPP
#define ROWLOCK_LOCK_SET_ACQUISITION_HPP

#include <cstddef>
#include <optional>
#include <vector>

#include "lease/lease_keeper.hpp"
#include "lock/set_attempt.hpp"
#include "rowlock/refusal.hpp"

namespace rowlock::detail {

struct wanted_set {
  /// Of different keys, in the order in which they are wanted.
  std::vector<wanted_lease> leases = {};
  /// So many of them; none: all of them or nothing.
  std::optional<std::size_t> at_most = std::nullopt;
};

struct set_end {
  kept_leases granted = {};
  std::optional<refusal> refused = std::nullopt;
};

/// Asks at once, and again as `pauses` say. Throws `error`. With `at_most`, a refusal says that
/// none was free, and its key is the first.
set_end acquire(keeper& leases, const keeper::visit& here, const wanted_set& wanted,
                polling& pauses);

}  // namespace rowlock::detail

#endif
