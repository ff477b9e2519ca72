// When to try for a contended key, computed from notifications of other processes.
#include "wait/contention_backoff.hpp"

#include <algorithm>
#include <chrono>

#include "base/pause.hpp"

namespace rowlock::detail {

namespace {

constexpr auto never_yet = boot_clock::time_point::min();

using namespace std::chrono_literals;

/// Time from a try until all other processes are notified that the row is taken.
constexpr auto time_per_contender = 5ms;
constexpr auto shortest_jitter = 1ms;
constexpr auto longest_jitter = 40ms;
/// A delay is at most this part of the usual hold time.
constexpr int part_of_the_hold = 10;
/// A notification is trusted for this long; then the row is read.
constexpr auto trusted_for = 1s;

/// A mark that a read has found or left lasts at least this long, and is renewed in its last half.
constexpr boot_clock::duration mark_lasts = 5s;

}  // namespace

void contention_backoff::released(boot_clock::time_point now) {
  is_release_known_ = true;
  if (!is_taken_) return;
  is_taken_ = false;
  released_at_ = now;
  const auto held = now - taken_at_;
  usually_held_ = usually_held_ == boot_clock::duration{} ? held : (3 * usually_held_ + held) / 4;
  drawn_jitter_ = drawn_between({}, jitter_);
}

// After one process has renewed the mark, the next grant notifies the others. The random time keeps
// all of them from renewing it at the same moment.
void contention_backoff::taken(boot_clock::time_point now,
                               const release_listener::grant_times& lasts) {
  is_announced_ = is_release_known_;
  is_release_known_ = false;
  is_taken_ = true;
  taken_at_ = now;
  taken_until_ = now + lasts.lease;
  if (now + lasts.watched_for > marked_until_ + 1s) renewed_before_ = drawn_between(1s, mark_lasts);
  marked_until_ = now + lasts.watched_for;
  read_by_ = marked_until_ - renewed_before_;
}

void contention_backoff::reset() {
  is_taken_ = false;
  is_announced_ = false;
  is_release_known_ = false;
  released_at_ = never_yet;
  marked_until_ = never_yet;
}

void contention_backoff::marked(boot_clock::time_point now) {
  marked_until_ = std::max(marked_until_, now + mark_lasts);
  read_by_ = now + drawn_between(mark_lasts / 2, mark_lasts - 1s);
}

void contention_backoff::granted(unsigned grants) {
  contenders_ = contenders_ ? (*contenders_ + grants) / 2 : grants;
  jitter_ = jitter_ * 3 / 4;
  if (jitter_ < shortest_jitter) jitter_ = {};
}

void contention_backoff::refused(unsigned meanwhile, unsigned grants) {
  const bool was_after_release = meanwhile > 0 || (!is_taken_ && is_release_known_);
  if (!was_after_release) return;
  const unsigned unannounced = meanwhile > 0 ? 0 : 1;
  contenders_ = std::max<double>(contenders_.value_or(0), grants + unannounced);
  jitter_ = std::min<boot_clock::duration>(2 * jitter_ + time_per_contender, longest_jitter);
}

boot_clock::time_point contention_backoff::try_after(unsigned grants) const {
  if (released_at_ == never_yet) return never_yet;
  const auto contenders = contenders_.value_or(0);
  const auto before = std::max(contenders - grants, 0.0);
  const auto overdue = std::max(grants - contenders, 0.0);
  const std::chrono::duration<double> delay =
      before * time_per_contender + drawn_jitter_ / (1 + overdue);
  const std::chrono::duration<double> longest = contenders * time_per_contender + jitter_;
  const std::chrono::duration<double> most = usually_held_ / part_of_the_hold;
  const double scale = longest > most ? most / longest : 1;
  return released_at_ + std::chrono::duration_cast<boot_clock::duration>(delay * scale);
}

boot_clock::time_point contention_backoff::reads_suppressed_until() const {
  if (!is_taken_ || !is_announced_) return never_yet;
  return std::min(taken_at_ + trusted_for, marked_until_);
}

}  // namespace rowlock::detail
