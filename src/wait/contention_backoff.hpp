// When to try for a contended key, computed from notifications of other processes.
#ifndef ROWLOCK_WAIT_CONTENTION_BACKOFF_HPP
#define ROWLOCK_WAIT_CONTENTION_BACKOFF_HPP

#include <optional>

#include "rowlock/clock.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// Waiting processes are notified of every release and grant. Each counts the grants it has let
/// pass; the higher its count, the sooner it tries. The others are notified of its grant before
/// they try, so no statement is needed for that order. Notifications may be wrong, at a bounded
/// cost in time or statements; the row alone decides.
///
/// Guarded by the mutex of the wait_queue.
class contention_backoff {
 public:
  /// Notifications, as in `release_listener`.
  void released(boot_clock::time_point now);
  void taken(boot_clock::time_point now, const release_listener::grant_times& lasts);
  /// To be called when notifications may have been missed.
  void reset();

  /// A read has found the row held, and marked it.
  void marked(boot_clock::time_point now);
  /// When a row that was marked at `read_at` is to be read again, before the mark lapses.
  static boot_clock::time_point mark_again_at(boot_clock::time_point read_at);

  /// A try of this process was granted, after `grants` to others since its wait began.
  void granted(unsigned grants, boot_clock::duration took);
  /// A try was refused, after `grants` to others since its wait began, `meanwhile` of them during
  /// the try. If a release caused the try, another process was faster: that is one more contender.
  void refused(unsigned meanwhile, unsigned grants);

  /// When a waiter that has let `grants` pass should try after the last release: the more, the
  /// sooner, and at once without other contenders. Each contender that comes first is left the time
  /// that a granted try takes: by then the others are notified. At most 0.1 s after the release.
  [[nodiscard]] boot_clock::time_point try_after(unsigned grants) const;
  /// Whether a newcomer should leave a released row to the others.
  [[nodiscard]] bool should_defer(boot_clock::time_point now) const {
    return !is_taken() && now < try_after(0);
  }

  /// Whether the row was just taken by a holder whose release will be announced.
  [[nodiscard]] bool is_taken(boot_clock::time_point now) const {
    return now < std::min(reads_suppressed_until(), taken_until_);
  }
  /// When the last announced lease runs out unless it is renewed.
  [[nodiscard]] boot_clock::time_point taken_until() const noexcept { return taken_until_; }

  /// Until then no read is needed to see that the row is held. In the past if the last release was
  /// not announced: releases in transactions of applications are not.
  [[nodiscard]] boot_clock::time_point reads_suppressed_until() const;
  /// When to read the row, so that its mark never lapses and all releases are announced.
  [[nodiscard]] boot_clock::time_point read_by() const noexcept { return read_by_; }

 private:
  /// What was announced last, and what it becomes:
  ///
  ///   before          | after a release | after a grant
  ///   nothing         | release         | grant_alone
  ///   release         | release         | grant
  ///   grant           | release: turns  | grant_alone
  ///   grant_alone     | release: turns  | grant_alone
  ///
  /// A release after a grant begins a round of turns: delays count from it. `grant_alone`: the
  /// release before it was not announced, so the next one may not be either, and reads go on.
  enum class announced { nothing, release, grant, grant_alone };

  [[nodiscard]] bool is_taken() const noexcept {
    return last_ == announced::grant || last_ == announced::grant_alone;
  }

  announced last_ = announced::nothing;
  boot_clock::time_point taken_at_ = boot_clock::time_point::min();
  boot_clock::time_point taken_until_ = boot_clock::time_point::min();
  boot_clock::time_point released_at_ = boot_clock::time_point::min();
  boot_clock::time_point marked_until_ = boot_clock::time_point::min();
  boot_clock::duration renewed_before_{};
  boot_clock::time_point read_by_ = boot_clock::time_point::min();
  /// Estimated grants to others between two grants to this process; empty before the first.
  std::optional<double> contenders_;
  /// Average time of this process's granted tries; a guess before the first.
  boot_clock::duration try_takes_ = std::chrono::milliseconds{5};
  /// Processes with equal counts spread their tries over this time. It grows each time another
  /// process was faster.
  boot_clock::duration jitter_{};
  boot_clock::duration drawn_jitter_{};  // drawn from jitter_ at the last release
};

}  // namespace rowlock::detail

#endif
