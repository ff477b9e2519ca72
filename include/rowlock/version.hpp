// The number that moves at every grant and every release of a key.
#ifndef ROWLOCK_VERSION_HPP
#define ROWLOCK_VERSION_HPP

#include <compare>
#include <cstdint>
#include <iosfwd>

namespace rowlock {

/// One number with three uses: the expected value of a compare-and-set, the proof of ownership, and
/// the fencing token. It only rises: `greatest(version + 1, now in microseconds)`, a hybrid logical
/// clock (Kulkarni et al., 2014), so a row that was purged, or an acknowledged grant that a crash
/// lost, never brings an old number back. It fits a double (below 2^53) until the year 2255.
struct version {
  std::int64_t number = 0;

  friend auto operator<=>(const version&, const version&) = default;
};

std::ostream& operator<<(std::ostream& out, const version& shown);

}  // namespace rowlock

#endif
