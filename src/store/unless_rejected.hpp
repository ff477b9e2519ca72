// A read whose refusal is a result.
#ifndef ROWLOCK_STORE_UNLESS_REJECTED_HPP
#define ROWLOCK_STORE_UNLESS_REJECTED_HPP

#include <optional>
#include <type_traits>

#include "rowlock/error.hpp"

namespace rowlock::detail {

/// Returns the optional that `read` returns; none if it throws `error` (rejected).
template <class Read>
std::invoke_result_t<const Read&> unless_rejected(const Read& read) {
  try {
    return read();
  } catch (const error& refused) {
    if (refused.kind() != errc::rejected) throw;
    return std::nullopt;
  }
}

}  // namespace rowlock::detail

#endif
