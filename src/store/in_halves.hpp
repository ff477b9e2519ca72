// Work on many rows that one of them can make fail.
#ifndef ROWLOCK_STORE_IN_HALVES_HPP
#define ROWLOCK_STORE_IN_HALVES_HPP

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace rowlock::detail {

/// Calls `work` with all rows; where it returns nothing, with each half of them, and so on until
/// the rows that it fails for are alone: these are passed to `refuse`. In the order of the rows.
/// Returns the sum of what `work` returned.
template <class Row, class Work, class Refuse>
std::size_t in_halves(std::span<const Row> rows, const Work& work, const Refuse& refuse) {
  std::size_t done = 0;
  std::vector<std::span<const Row>> left{rows};  // the next one last
  while (!left.empty()) {
    const auto part = left.back();
    left.pop_back();
    if (part.empty()) continue;
    if (const std::optional<std::size_t> some = work(part)) {
      done += *some;
    } else if (part.size() == 1) {
      refuse(part.front());
    } else {
      const auto half = part.size() / 2;
      left.push_back(part.subspan(half));
      left.push_back(part.first(half));
    }
  }
  return done;
}

}  // namespace rowlock::detail

#endif
