// Whether a shared statement begins a moment later, so that those who were answered last join it.
#ifndef ROWLOCK_BATCH_BATCH_LINGER_HPP
#define ROWLOCK_BATCH_BATCH_LINGER_HPP

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace rowlock::detail {

/// Threads that ask again as soon as they are answered fall into two halves that wait for each
/// other's statements, so that each commit serves one half. Where a commit takes long, it is better
/// to wait a moment for the others. Whether they come, experience tells; who was answered alone
/// does not wait.
///
/// Thread-safety: none, its owner's mutex is held.
class batch_linger {
 public:
  using clock = std::chrono::steady_clock;

  struct limits {
    /// Of the time that the statement before took.
    double part = 0.25;
    /// Such a statement is over before the others could have come,
    clock::duration shortest = std::chrono::milliseconds{2};
    /// and such a one tells nothing about the next one.
    clock::duration longest = std::chrono::milliseconds{20};
  };

  explicit batch_linger(const limits& has) : limits_{has} {}

  /// A statement has ended that answered so many calls.
  void ended(clock::time_point began, std::size_t answered);
  /// Whether few ask here, and statements do not take long.
  [[nodiscard]] bool is_idle() const;
  /// A call begins or waits.
  void arrived();
  /// Before a statement: waits for those who may come. Whether it did.
  bool linger(std::unique_lock<std::mutex>& lock);
  /// So many calls have waited, and so many joined them.
  void lingered(std::size_t calls, std::size_t joined);

 private:
  const limits limits_;
  std::condition_variable all_came_;
  clock::time_point ended_at_;
  clock::duration took_{};
  std::size_t answered_ = 0;
  std::size_t expected_ = 0;
  unsigned skips_ = 0;  // so many statements do not wait after one that did so in vain
  unsigned to_skip_ = 0;
};

}  // namespace rowlock::detail

#endif
