// When to try for a contended key, computed from notifications of other processes.
#include "wait/contention_backoff.hpp"

#include <algorithm>
#include <chrono>

#include "base/pause.hpp"

namespace rowlock::detail {

namespace {

constexpr auto never_yet = boot_clock::time_point::min();

using namespace std::chrono_literals;

/// Bounds of the measured time of a try.
constexpr boot_clock::duration shortest_try = 500us;
constexpr boot_clock::duration longest_try = 40ms;
/// The jitter is at most so many tries long.
constexpr int most_jitter = 8;
/// All delays together.
constexpr boot_clock::duration longest_delay = 100ms;
/// A notification is trusted for this long; then the row is read.
constexpr auto trusted_for = 1s;

/// A mark that a read has found or left lasts at least this long, and is renewed in its last half.
constexpr boot_clock::duration mark_lasts = 5s;

}  // namespace

void contention_backoff::released(boot_clock::time_point now) {
  const bool begins_turns = is_taken();
  last_ = announced::release;
  if (!begins_turns) return;
  released_at_ = now;
  drawn_jitter_ = drawn_between({}, jitter_);
}

// After one process has renewed the mark, the next grant notifies the others. The random time keeps
// all of them from renewing it at the same moment.
void contention_backoff::taken(boot_clock::time_point now,
                               const release_listener::grant_times& lasts) {
  last_ = last_ == announced::release ? announced::grant : announced::grant_alone;
  taken_at_ = now;
  taken_until_ = now + lasts.lease;
  if (now + lasts.watched_for > marked_until_ + 1s) renewed_before_ = drawn_between(1s, mark_lasts);
  marked_until_ = now + lasts.watched_for;
  read_by_ = marked_until_ - renewed_before_;
}

void contention_backoff::reset() {
  last_ = announced::nothing;
  released_at_ = never_yet;
  marked_until_ = never_yet;
}

void contention_backoff::marked(boot_clock::time_point now) {
  marked_until_ = std::max(marked_until_, now + mark_lasts);
  read_by_ = mark_again_at(now);
}

boot_clock::time_point contention_backoff::mark_again_at(boot_clock::time_point read_at) {
  return read_at + drawn_between(mark_lasts / 2, mark_lasts - 1s);
}

void contention_backoff::granted(unsigned grants, boot_clock::duration took) {
  contenders_ = contenders_ ? (*contenders_ + grants) / 2 : grants;
  try_takes_ = std::clamp((3 * try_takes_ + took) / 4, shortest_try, longest_try);
  jitter_ = jitter_ * 3 / 4;
  if (jitter_ < try_takes_) jitter_ = {};
}

void contention_backoff::refused(unsigned meanwhile, unsigned grants) {
  const bool was_after_release = meanwhile > 0 || last_ == announced::release;
  if (!was_after_release) return;
  const unsigned unannounced = meanwhile > 0 ? 0 : 1;
  contenders_ = std::max<double>(contenders_.value_or(0), grants + unannounced);
  jitter_ = std::min(2 * jitter_ + try_takes_, most_jitter * try_takes_);
}

boot_clock::time_point contention_backoff::try_after(unsigned grants) const {
  if (released_at_ == never_yet) return never_yet;
  const auto contenders = contenders_.value_or(0);
  const auto before = std::max(contenders - grants, 0.0);
  const auto overdue = std::max(grants - contenders, 0.0);
  const std::chrono::duration<double> delay =
      before * std::chrono::duration<double>{try_takes_} + drawn_jitter_ / (1 + overdue);
  const std::chrono::duration<double> longest =
      contenders * std::chrono::duration<double>{try_takes_} + jitter_;
  const double scale = longest > longest_delay ? longest_delay / longest : 1;
  return released_at_ + std::chrono::duration_cast<boot_clock::duration>(delay * scale);
}

boot_clock::time_point contention_backoff::reads_suppressed_until() const {
  if (last_ != announced::grant) return never_yet;
  return std::min(taken_at_ + trusted_for, marked_until_);
}

}  // namespace rowlock::detail
