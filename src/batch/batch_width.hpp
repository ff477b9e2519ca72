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
/// way in which calls take clearly less time, in two trials in succession, is kept. After trials
/// that changed nothing, the next one comes after twice as many calls or more, or when the time of
/// calls is clearly another one. The first statements after a change do not count. A trial ends
/// early when its calls take far more time.
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
    /// Measurements between two trials: after a change, and at most. (One after a trial that is
    /// won.)
    unsigned fewest_between = 8;
    unsigned most_between = 256;
    /// The other way must take this part of the time, or less.
    double clearly_less = 0.95;
    /// A trial is lost as soon as its calls, those of the first statements too, have taken more
    /// than so many times what as many calls took before it, of `calls` at least: where a statement
    /// waits for the processors, the slower way takes long to measure.
    double clearly_more = 1.5;
    /// After such a trial the next one comes after so many times as many measurements.
    unsigned rarer_after_it = 4;
    /// In so many trials in succession: single measurements differ by a third where the machine or
    /// the calls are uneven.
    unsigned trials_to_change = 2;
    /// A trial comes at once if calls take so many times as long as just after the last one, or as
    /// many times less, in so many measurements in a row.
    double other_load = 1.5;
    unsigned other_in_a_row = 4;
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

  const limits limits_;
  bool is_one_ = limits_.begins_as_one;
  unsigned epoch_ = 0;
  unsigned unsettled_ = 0;  // statements that are not to count
  // The measurement so far:
  std::size_t calls_ = 0;
  std::size_t met_others_ = 0;
  unsigned statements_ = 0;
  duration total_{};

  enum class stage { usual, trial, after_trial };
  stage stage_ = stage::usual;
  // Times of a call:
  seconds before_{};       // in the last measurement before the trial
  seconds trial_{};        // in the trial; `lost` if it ended early
  seconds after_trial_{};  // in the first one after it; zero if its way was kept, or there was none
  static constexpr seconds lost = seconds::max();
  // The trial so far, with the first statements:
  std::size_t tried_calls_ = 0;
  duration tried_total_{};
  unsigned trials_won_ = 0;  // in succession
  unsigned others_ = 0;      // measurements in a row that differ from after_trial_
  unsigned between_ = limits_.fewest_between;
  unsigned until_trial_ = limits_.fewest_between;
};

inline void batch_width::answered(std::size_t calls, bool have_met, duration total) {
  if (calls == 0) return;
  if (stage_ == stage::trial && has_lost_trial(calls, total)) {
    begin_measurement();
    return measured(lost);
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
    others_ = 0;
    const bool is_better = trial_ < std::min(before_, each) * limits_.clearly_less;
    if (is_better && ++trials_won_ < limits_.trials_to_change) return try_other(each);
    trials_won_ = 0;
    const unsigned rarer = trial_ == lost ? limits_.rarer_after_it : 2;
    between_ =
        is_better ? limits_.fewest_between : std::min(rarer * between_, limits_.most_between);
    until_trial_ = between_;
    after_trial_ = is_better ? seconds{} : each;
    if (is_better) change();
    return;
  }
  const bool is_other =
      after_trial_ != seconds{} &&
      std::max(each, after_trial_) > std::min(each, after_trial_) * limits_.other_load;
  others_ = is_other ? others_ + 1 : 0;
  const bool is_other_load = others_ >= limits_.other_in_a_row;
  if (is_other_load) between_ = limits_.fewest_between;
  if (--until_trial_ > 0 && !is_other_load) return;
  try_other(each);
}

inline void batch_width::try_other(seconds before) {
  before_ = before;
  stage_ = stage::trial;
  tried_calls_ = 0;
  tried_total_ = {};
  change();
}

inline void batch_width::change() {
  is_one_ = !is_one_;
  ++epoch_;
  unsettled_ = limits_.unsettled;
}

}  // namespace rowlock::detail

#endif
