// What is heard of one key that other processes want, too.
#include "wait/contention_backoff.hpp"

#include <algorithm>
#include <chrono>

#include "base/pause.hpp"

namespace rowlock::detail {

namespace {

constexpr auto never_yet = boot_clock::time_point::min();

using namespace std::chrono_literals;

/// From the moment at which one asks, until all others have heard that the row is taken.
constexpr auto time_of_a_turn = 5ms;
constexpr auto shortest_spread = 1ms;
constexpr auto longest_spread = 40ms;
/// Standing back costs so little of what a key can be used.
constexpr int part_of_the_hold = 10;
/// What was heard is believed so long, and then the row is looked at.
constexpr auto believed_for = 1s;

/// Word that a look has found or left lasts so long at least, and is left again in its last half.
constexpr boot_clock::duration word_lasts = 5s;

}  // namespace

void hearsay::released(boot_clock::time_point now) {
  was_release_heard_ = true;
  if (!is_taken_) return;
  is_taken_ = false;
  released_at_ = now;
  const auto held = now - taken_at_;
  usually_held_ = usually_held_ == boot_clock::duration{} ? held : (3 * usually_held_ + held) / 4;
  drawn_ = drawn_between({}, spread_);
}

// One process leaves word again and the others hear of it at the next grant: so they do not all
// want to do so at the same moment.
void hearsay::taken(boot_clock::time_point now, const release_listener::grant_times& lasts) {
  is_announced_ = was_release_heard_;
  was_release_heard_ = false;
  is_taken_ = true;
  taken_at_ = now;
  taken_until_ = now + lasts.lease;
  if (now + lasts.word > word_until_ + 1s) renewed_before_ = drawn_between(1s, word_lasts);
  word_until_ = now + lasts.word;
  look_by_ = word_until_ - renewed_before_;
}

void hearsay::missed() {
  is_taken_ = false;
  is_announced_ = false;
  was_release_heard_ = false;
  released_at_ = never_yet;
  word_until_ = never_yet;
}

void hearsay::watched(boot_clock::time_point now) {
  word_until_ = std::max(word_until_, now + word_lasts);
  look_by_ = now + drawn_between(word_lasts / 2, word_lasts - 1s);
}

void hearsay::won(unsigned turns) {
  crowd_ = crowd_ ? (*crowd_ + turns) / 2 : turns;
  spread_ = spread_ * 3 / 4;
  if (spread_ < shortest_spread) spread_ = {};
}

void hearsay::refused(unsigned meanwhile, unsigned turns) {
  const bool was_in_turn = meanwhile > 0 || (!is_taken_ && was_release_heard_);
  if (!was_in_turn) return;
  const unsigned unheard = meanwhile > 0 ? 0 : 1;
  crowd_ = std::max<double>(crowd_.value_or(0), turns + unheard);
  spread_ = std::min<boot_clock::duration>(2 * spread_ + time_of_a_turn, longest_spread);
}

boot_clock::time_point hearsay::turn_after(unsigned turns) const {
  if (released_at_ == never_yet) return never_yet;
  const auto crowd = crowd_.value_or(0);
  const auto before = std::max(crowd - turns, 0.0);
  const auto overdue = std::max(turns - crowd, 0.0);
  const std::chrono::duration<double> standing_back =
      before * time_of_a_turn + drawn_ / (1 + overdue);
  const std::chrono::duration<double> longest = crowd * time_of_a_turn + spread_;
  const std::chrono::duration<double> most = usually_held_ / part_of_the_hold;
  const double scale = longest > most ? most / longest : 1;
  return released_at_ + std::chrono::duration_cast<boot_clock::duration>(standing_back * scale);
}

boot_clock::time_point hearsay::quiet_until() const {
  if (!is_taken_ || !is_announced_) return never_yet;
  return std::min(taken_at_ + believed_for, word_until_);
}

}  // namespace rowlock::detail
