// One attempt to lock rows in a transaction of the application, and attempts until one succeeds.
#ifndef ROWLOCK_STORE_LOCK_ATTEMPT_HPP
#define ROWLOCK_STORE_LOCK_ATTEMPT_HPP

#include <chrono>
#include <optional>
#include <utility>

#include "rowlock/outcome.hpp"
#include "rowlock/retry.hpp"
#include "rowlock/row_lock.hpp"
#include "rowlock/row_transaction.hpp"

namespace rowlock::detail {

/// All rows locked, or refused, or neither: a row is missing and was not to be created.
struct lock_attempt {
  std::optional<row_lock> locked = std::nullopt;
  std::optional<refusal> refused = std::nullopt;
};

enum class missing_rows { report, create };

/// `attempt` waits in the database for at most the time that it is given.
template <class Attempt>
outcome<row_lock> lock_patiently(const retry_policy& wait, const Attempt& attempt) {
  row_lock locked;
  auto refused = wait_for_rows(wait, [&](std::chrono::milliseconds slice) {
    lock_attempt made = attempt(slice);
    if (made.locked) locked = *std::move(made.locked);
    return made.refused;
  });
  if (refused) return *std::move(refused);
  return locked;
}

}  // namespace rowlock::detail

#endif
