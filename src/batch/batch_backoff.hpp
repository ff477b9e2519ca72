// Whether batches go one at a time, or for a while side by side.
#ifndef ROWLOCK_BATCH_BATCH_BACKOFF_HPP
#define ROWLOCK_BATCH_BATCH_BACKOFF_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace rowlock::detail {

/// Only calls of the same kind share a statement.
enum class statement_kind { acquire, release };

/// The least of the last times: of so many at least, and at most twice as many.
class recent_least {
 public:
  using duration = std::chrono::steady_clock::duration;

  explicit recent_least(std::size_t times) : times_{times} {}

  void add(duration took) {
    if (++added_ > times_) {
      before_ = now_;
      now_ = duration::max();
      added_ = 1;
    }
    now_ = std::min(now_, took);
  }
  /// To be called after `add`.
  [[nodiscard]] duration value() const { return std::min(before_, now_); }

 private:
  std::size_t times_;
  std::size_t added_ = 0;
  duration now_ = duration::max();
  duration before_ = duration::max();
};

/// One statement at a time serves the most calls for each commit. But then one thread runs at a
/// time, of the client or of the server, and on a machine whose processors are busy it waits for
/// one at each of its steps; side by side, these waits overlap. So after a slow statement, calls go
/// side by side for a while, twice as many after each further one.
///
/// Thread-safety: none; the owner's mutex must be locked.
class batch_backoff {
 public:
  using duration = std::chrono::steady_clock::duration;

  struct limits {
    /// A statement is slow if it takes more than twice the time of the quickest recent one of its
    /// kind, in which the disk and the network are, and this for each of its calls. (Where
    /// processors are idle, it is 0.1 ms; where they are busy, a thread gets one for 3 ms or more.)
    duration slow_call = std::chrono::microseconds{250};
    /// So many statements are recent, seconds of them: another server may be farther away.
    std::size_t recent = 4096;
    /// So many calls go side by side after a slow statement: at first, and again when the last
    /// backoff was followed by as many quick calls; and at most, a second or two of calls.
    std::size_t fewest = 256;
    std::size_t most = 16384;
  };

  explicit batch_backoff(const limits& has)
      : limits_{has}, quickest_{recent_least{has.recent}, recent_least{has.recent}} {}

  [[nodiscard]] bool is_side_by_side() const { return left_ > 0; }
  /// To be called when a statement has granted or released rows, for `calls`. `was_one`: none was
  /// under way when it began, so that it did not wait for others.
  void answered(statement_kind kind, std::size_t calls, duration took, bool was_one);

 private:
  const limits limits_;
  std::array<recent_least, 2> quickest_;  // of each kind
  std::size_t left_ = 0;                  // calls that are to go side by side
  std::size_t last_ = 0;                  // how many there were, the last time
  std::size_t quick_ = 0;                 // calls that were answered since then
};

inline void batch_backoff::answered(statement_kind kind, std::size_t calls, duration took,
                                    bool was_one) {
  auto& quickest = quickest_.at(static_cast<std::size_t>(kind));
  quickest.add(took);
  if (is_side_by_side()) {
    left_ -= std::min(left_, calls);
    return;
  }
  if (!was_one) return;
  const auto usual = 2 * quickest.value() + limits_.slow_call * static_cast<duration::rep>(calls);
  if (took <= usual) {
    quick_ += calls;
    return;
  }
  left_ = quick_ >= last_ ? limits_.fewest : std::min(2 * last_, limits_.most);
  last_ = left_;
  quick_ = 0;
}

}  // namespace rowlock::detail

#endif
