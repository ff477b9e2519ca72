// Which commits of the stores wait for the disk.
#ifndef ROWLOCK_BASE_FLUSHED_HPP
#define ROWLOCK_BASE_FLUSHED_HPP

#include <algorithm>
#include <chrono>
#include <span>

#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// Whether a crash must not undo the release. Of a row that stays closed or that is marked as done
/// that would be more than a delay.
inline bool is_to_be_flushed(const release_request& request) {
  return request.durable || request.stay_closed > std::chrono::microseconds::zero() ||
         request.done_for;
}

/// The same of a statement that makes all of them.
inline bool are_to_be_flushed(std::span<const release_request> requests) {
  return std::ranges::any_of(requests, is_to_be_flushed);
}

}  // namespace rowlock::detail

#endif
