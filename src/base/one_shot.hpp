// A message from one thread to another.
#ifndef ROWLOCK_BASE_ONE_SHOT_HPP
#define ROWLOCK_BASE_ONE_SHOT_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace rowlock::detail {

/// For one message, on the stack of the thread that waits for it. Has a mutex of its own, so that
/// many who are told at a time do not wake up to wait for each other.
///
/// Thread-safety: `tell` may be called from any thread.
template <class Message>
class one_shot {
 public:
  /// The receiver may have destroyed it when this returns.
  void tell(Message message) {
    const std::scoped_lock lock{mutex_};
    message_.emplace(std::move(message));
    arrived_.notify_one();
  }

  /// None, if it did not come in time.
  std::optional<Message> wait_for(std::chrono::milliseconds at_most) {
    std::unique_lock lock{mutex_};
    arrived_.wait_for(lock, at_most, [this] { return message_.has_value(); });
    return std::move(message_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Message> message_;  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
