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
/// way in which calls take clearly less time is kept. After a trial that changed nothing, the next
/// one comes after twice as many calls, or when the time of calls is clearly another one.
///
/// Thread-safety: none; the owner's mutex must be locked.
class batch_width {
 public:
  using duration = std::chrono::steady_clock::duration;

  struct limits {
    /// What a measurement consists of, at least.
    std::size_t calls = 64;
    unsigned statements = 8;
    /// Measurements between two trials: after a change, and at most.
    unsigned fewest_between = 8;
    unsigned most_between = 256;
    /// The other way must take this part of the time, or less.
    double clearly_less = 0.95;
    /// A trial comes at once if calls take so many times as long as after the last one, or as many
    /// times less.
    double other_load = 1.5;
    /// By default side by side: where calls are few or slow, it takes long to measure, and one at a
    /// time is slower; where they are many and quick, it takes milliseconds.
    bool begins_as_one = false;
  };

  explicit batch_width(const limits& has) : limits_{has} {}

  [[nodiscard]] bool is_one() const { return is_one_; }
  /// Changes with each change of the width. A call that began under another one does not count.
  [[nodiscard]] unsigned epoch() const { return epoch_; }
  /// To be called when a statement has answered `calls` that began in this epoch and met others, in
  /// `total` time, added up.
  void answered(std::size_t calls, duration total);

 private:
  using seconds = std::chrono::duration<double>;

  void measured(seconds each);
  void change();

  const limits limits_;
  bool is_one_ = limits_.begins_as_one;
  unsigned epoch_ = 0;
  // The measurement so far:
  std::size_t calls_ = 0;
  unsigned statements_ = 0;
  duration total_{};

  enum class stage { usual, trial, after_trial };
  stage stage_ = stage::usual;
  seconds usual_{};     // time of a call, outside trials
  seconds trial_{};     // the same in the last trial
  seconds at_trial_{};  // `usual_` after the last trial
  unsigned between_ = limits_.fewest_between;
  unsigned until_trial_ = limits_.fewest_between;
};

inline void batch_width::answered(std::size_t calls, duration total) {
  if (calls == 0) return;
  calls_ += calls;
  total_ += total;
  ++statements_;
  if (calls_ < limits_.calls || statements_ < limits_.statements) return;
  const auto each = seconds{total_} / static_cast<double>(calls_);
  calls_ = 0;
  statements_ = 0;
  total_ = {};
  measured(each);
}

inline void batch_width::measured(seconds each) {
  if (stage_ == stage::trial) {
    stage_ = stage::after_trial;
    trial_ = each;
    return change();
  }
  const bool is_after_trial = stage_ == stage::after_trial;
  const bool is_better = is_after_trial && trial_ < (usual_ + each) / 2 * limits_.clearly_less;
  constexpr double weight = 0.25;  // one slow moment must not decide
  usual_ = usual_ == seconds{} ? each : usual_ * (1 - weight) + each * weight;
  if (is_after_trial) {
    stage_ = stage::usual;
    between_ = is_better ? limits_.fewest_between : std::min(2 * between_, limits_.most_between);
    until_trial_ = between_;
    if (is_better) {
      usual_ = trial_;
      change();
    }
    at_trial_ = usual_;
    return;
  }
  if (at_trial_ == seconds{}) at_trial_ = usual_;
  const bool is_other_load =
      std::max(usual_, at_trial_) > std::min(usual_, at_trial_) * limits_.other_load;
  if (is_other_load) between_ = limits_.fewest_between;
  if (--until_trial_ > 0 && !is_other_load) return;
  stage_ = stage::trial;
  change();
}

inline void batch_width::change() {
  is_one_ = !is_one_;
  ++epoch_;
}

}  // namespace rowlock::detail

#endif
