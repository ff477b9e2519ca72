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
/// measures how long calls take one way, and now and then the other way, which is kept if calls
/// take clearly less time. After a trial that changed nothing, the next one comes after twice as
/// many calls.
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
  bool is_one_ = true;
  unsigned epoch_ = 0;
  // The measurement so far:
  std::size_t calls_ = 0;
  unsigned statements_ = 0;
  duration total_{};

  seconds usual_{};  // time of a call, outside trials
  bool is_trial_ = false;
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
  if (is_trial_) {
    is_trial_ = false;
    const bool is_better = each < usual_ * limits_.clearly_less;
    between_ = is_better ? limits_.fewest_between : std::min(2 * between_, limits_.most_between);
    until_trial_ = between_;
    if (!is_better) return change();
    usual_ = each;
    return;
  }
  constexpr double weight = 0.25;  // one slow moment must not decide
  usual_ = usual_ == seconds{} ? each : usual_ * (1 - weight) + each * weight;
  if (--until_trial_ > 0) return;
  is_trial_ = true;
  change();
}

inline void batch_width::change() {
  is_one_ = !is_one_;
  ++epoch_;
}

}  // namespace rowlock::detail

#endif
