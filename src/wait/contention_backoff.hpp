// What is heard of one key that other processes want, too.
#ifndef ROWLOCK_WAIT_CONTENTION_BACKOFF_HPP
#define ROWLOCK_WAIT_CONTENTION_BACKOFF_HPP

#include <optional>

#include "rowlock/clock.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// Who waits hears of each release and each grant. So those of several processes can take turns
/// without a statement: who has let the most others go first asks first, and the others hear of the
/// grant before they have asked. All of it may be wrong, and costs time or statements then, both
/// bounded; the row alone decides.
///
/// Guarded by the mutex of the wait_queue.
class contention_backoff {
 public:
  /// As the listener is told.
  void released(boot_clock::time_point now);
  void taken(boot_clock::time_point now, const release_listener::grant_times& lasts);
  /// Releases may have been missed.
  void reset();

  /// A look has found the row held, and left word.
  void marked(boot_clock::time_point now);

  /// This process asked in its turn and was granted the row, after `turns` of others since its wait
  /// began.
  void granted(unsigned grants);
  /// It asked and was refused; so many grants were heard of `meanwhile`, and `turns` since its wait
  /// began. If it had asked because of a release, another one was faster: one more that waits.
  void refused(unsigned meanwhile, unsigned grants);

  /// When one should ask for the row that was released last, who has let `turns` others go first:
  /// the sooner the more; at once if nobody else seems to want it; and never later after the
  /// release than a tenth of the time for which it is usually held.
  [[nodiscard]] boot_clock::time_point try_after(unsigned grants) const;
  /// Whether a newcomer should leave the row to others, although it was released.
  [[nodiscard]] bool should_defer(boot_clock::time_point now) const {
    return !is_taken_ && now < try_after(0);
  }

  /// Whether it was taken a moment ago by somebody whose release is going to be heard.
  [[nodiscard]] bool is_taken(boot_clock::time_point now) const {
    return now < std::min(reads_suppressed_until(), taken_until_);
  }
  /// When the lease that was taken last runs out unless it is renewed.
  [[nodiscard]] boot_clock::time_point taken_until() const noexcept { return taken_until_; }

  /// Until then nobody need look at the row to see that it is held. In the past, where releases
  /// have not been heard of lately: those in transactions of applications are not announced.
  [[nodiscard]] boot_clock::time_point reads_suppressed_until() const;
  /// When to look at the row so that its releases are announced all the time.
  [[nodiscard]] boot_clock::time_point read_by() const noexcept { return read_by_; }

 private:
  bool is_taken_ = false;
  bool was_release_heard_ = false;
  /// The release before the last grant was heard of.
  bool is_announced_ = false;
  boot_clock::time_point taken_at_ = boot_clock::time_point::min();
  boot_clock::time_point taken_until_ = boot_clock::time_point::min();
  boot_clock::time_point released_at_ = boot_clock::time_point::min();
  boot_clock::duration usually_held_{};
  boot_clock::time_point marked_until_ = boot_clock::time_point::min();
  boot_clock::duration renewed_before_{};
  boot_clock::time_point read_by_ = boot_clock::time_point::min();
  /// How many others have their turn between two of this process; none: it had none yet.
  std::optional<double> contenders_;
  /// Those who have waited equally long ask at any time within it: the longer, the more often
  /// another one was faster.
  boot_clock::duration jitter_{};
  boot_clock::duration drawn_jitter_{};  // from it, at the last release
};

}  // namespace rowlock::detail

#endif
