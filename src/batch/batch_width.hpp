// How many batches are under way at once: one, or several.
#ifndef ROWLOCK_BATCH_BATCH_WIDTH_HPP
#define ROWLOCK_BATCH_BATCH_WIDTH_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace rowlock::detail {

/// With one statement at a time, the calls that meet share one commit. Side by side, statements
/// wait less for each other, and the scheduler of a busy machine gives them more time. Which is
/// faster depends on the number of threads, the disk, the server, and other programs. So this
/// measures how long calls take one way, and now and then the other way, between two measurements
/// of the first: calls may become slower all the time, as beside a transaction that stays open. The
/// way in which calls take clearly less time, in two trials in succession, is kept, until its calls
/// take longer than those of the other way did. After each trial that changed nothing, the next one
/// comes after twice as many calls or more, up to a limit; trials never become more frequent again.
/// The first statements after a change do not count. A trial ends early when its calls take far
/// more time.
///
/// Thread-safety: none; the owner's mutex must be locked.
class batch_width {
 public:
  using duration = std::chrono::steady_clock::duration;

  struct limits {
    /// What a measurement consists of, at least, of calls that met others. The time of all calls
    /// counts: those that met others came in the slower moments, and side by side more so.
    std::size_t calls = 64;
    unsigned statements = 8;
    /// After more calls that met no other it begins anew: its load is over.
    std::size_t most_alone = 1024;
    /// Statements after a change that do not count: the calls of the first two (grants, releases)
    /// waited for statements of the other way; and it takes more until as many as usual share one.
    unsigned unsettled = 8;
    /// In the first trial, statements before those, which do not end it early either. PostgreSQL
    /// plans a prepared statement anew in its first five executions in a session, which takes
    /// longer than to execute it: with `unsettled`, five shared grants and five shared releases,
    /// and those that are under way when the trial begins.
    unsigned planned_at_first = 8;
    /// Measurements between two trials: at first, and at most; above zero. (One after a trial that
    /// is won.)
    unsigned fewest_between = 8;
    unsigned most_between = 256;
    /// The other way must take this part of the time, or less.
    double clearly_less = 0.85;
    /// A trial is lost as soon as its calls, those of the first statements too, have taken more
    /// than so many times what as many calls took before it, of `calls` at least: where a statement
    /// waits for the processors, the slower way takes long to measure.
    double clearly_more = 1.5;
    /// After such a trial the next one comes after so many times as many measurements.
    unsigned rarer_after_it = 4;
    /// In so many trials in succession: single measurements differ by a third where the machine or
    /// the calls are uneven.
    unsigned trials_to_change = 2;
    /// A way that was found in trials is given up after so many measurements between trials in a
    /// row in which calls took longer than the other way's beside the trial that decided. The next
    /// trial comes as after one that ended early.
    unsigned no_better_in_a_row = 8;
    /// By default side by side: where calls are few or slow, it takes long to measure, and one at a
    /// time is slower; where they are many and quick, it takes milliseconds.
    bool begins_as_one = false;
  };

  explicit batch_width(const limits& has) : limits_{has} {}

  [[nodiscard]] bool is_one() const { return is_one_; }
  /// Changes with each change of the width. A call that began under another one does not count.
  [[nodiscard]] unsigned epoch() const { return epoch_; }
  /// To be called when a statement has answered `calls` that began in this epoch, in `total` time,
  /// added up. `have_met`: they were several, or another call was there when it began.
  void answered(std::size_t calls, bool have_met, duration total);

 private:
  using seconds = std::chrono::duration<double>;

  [[nodiscard]] bool has_lost_trial(std::size_t calls, duration total);
  void begin_measurement();
  void measured(seconds each);
  void try_other(seconds before);
  void change();
  void make_trials_rarer(unsigned times);

  const limits limits_;
  bool is_one_ = limits_.begins_as_one;
  unsigned epoch_ = 0;
  unsigned unsettled_ = 0;  // statements that are not to count
  unsigned to_plan_ = 0;    // before these, in the first trial
  // The measurement so far:
  std::size_t calls_ = 0;
  std::size_t met_others_ = 0;
  unsigned statements_ = 0;
  duration total_{};

  enum class stage { usual, trial, after_trial };
  stage stage_ = stage::usual;
  // Times of a call:
  static constexpr seconds none = seconds::max();
  seconds before_{};      // in the last measurement before the trial
  seconds trial_{};       // in the trial; `none` if it ended early
  seconds other_ = none;  // the other way's, at least, when this one was found better than it
  // The trial so far, with the first statements:
  std::size_t tried_calls_ = 0;
  duration tried_total_{};
  bool has_tried_ = false;
  unsigned trials_won_ = 0;  // in succession
  unsigned no_better_ = 0;   // measurements in a row in which calls took longer than other_
  unsigned between_ = limits_.fewest_between;
  unsigned until_trial_ = limits_.fewest_between;
};

inline void batch_width::answered(std::size_t calls, bool have_met, duration total) {
  if (calls == 0) return;
  if (to_plan_ > 0) {
    --to_plan_;
    return;
  }
  if (stage_ == stage::trial && has_lost_trial(calls, total)) {
    begin_measurement();
    return measured(none);
  }
  if (unsettled_ > 0) {
    --unsettled_;
    return;
  }
  calls_ += calls;
  total_ += total;
  if (have_met) {
    met_others_ += calls;
    ++statements_;
  }
  const bool is_done = met_others_ >= limits_.calls && statements_ >= limits_.statements;
  if (!is_done && calls_ - met_others_ <= limits_.most_alone) return;
  const auto each = seconds{total_} / static_cast<double>(calls_);
  begin_measurement();
  if (is_done) return measured(each);
  tried_calls_ = 0;
  tried_total_ = {};
}

inline bool batch_width::has_lost_trial(std::size_t calls, duration total) {
  tried_calls_ += calls;
  tried_total_ += total;
  const auto as_many = static_cast<double>(std::max(tried_calls_, limits_.calls));
  return seconds{tried_total_} > before_ * as_many * limits_.clearly_more;
}

inline void batch_width::begin_measurement() {
  calls_ = 0;
  met_others_ = 0;
  statements_ = 0;
  total_ = {};
}

inline void batch_width::measured(seconds each) {
  if (stage_ == stage::trial) {
    stage_ = stage::after_trial;
    trial_ = each;
    return change();
  }
  if (stage_ == stage::after_trial) {
    stage_ = stage::usual;
    const bool is_better = trial_ < std::min(before_, each) * limits_.clearly_less;
    if (is_better && ++trials_won_ < limits_.trials_to_change) return try_other(each);
    trials_won_ = 0;
    if (!is_better) {
      // A trial that did not end early is no news: of what the way leaves behind in the table, the
      // other one is rid only after more calls.
      if (trial_ == none && other_ != none) {
        other_ = std::max(other_, before_ * limits_.clearly_more);
        no_better_ = 0;
      }
      return make_trials_rarer(trial_ == none ? limits_.rarer_after_it : 2);
    }
    until_trial_ = between_;
    other_ = (before_ + each) / 2;
    no_better_ = 0;
    return change();
  }
  no_better_ = each > other_ ? no_better_ + 1 : 0;
  if (no_better_ >= limits_.no_better_in_a_row) {
    make_trials_rarer(limits_.rarer_after_it);
    other_ = none;
    no_better_ = 0;
    return change();
  }
  if (--until_trial_ == 0) try_other(each);
}

inline void batch_width::try_other(seconds before) {
  before_ = before;
  stage_ = stage::trial;
  tried_calls_ = 0;
  tried_total_ = {};
  if (!has_tried_) to_plan_ = limits_.planned_at_first;
  has_tried_ = true;
  change();
}

inline void batch_width::change() {
  is_one_ = !is_one_;
  ++epoch_;
  unsettled_ = limits_.unsettled;
}

inline void batch_width::make_trials_rarer(unsigned times) {
  between_ = std::min(times * between_, limits_.most_between);
  until_trial_ = between_;
}

}  // namespace rowlock::detail

#endif
