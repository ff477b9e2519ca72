// Work that a row remembers as done.
#ifndef ROWLOCK_DONE_MARK_HPP
#define ROWLOCK_DONE_MARK_HPP

#include <chrono>
#include <string>

#include "rowlock/version.hpp"

namespace rowlock {

struct done_mark {
  /// The grant under which it was done; 0 where the row, written by hand perhaps, does not say.
  version by;
  /// Database clock, UTC, `2026-01-31 12:00:00.000000`.
  std::string at = {};
  /// How much longer it is remembered.
  std::chrono::microseconds remaining{};
};

}  // namespace rowlock

#endif
