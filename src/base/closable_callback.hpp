// A callback of the user that can be ended.
#ifndef ROWLOCK_BASE_CLOSABLE_CALLBACK_HPP
#define ROWLOCK_BASE_CLOSABLE_CALLBACK_HPP

#include <functional>
#include <mutex>
#include <utility>

namespace rowlock::detail {

/// Thread-safety: all members may be called from any thread.
template <class... Arguments>
class closable_callback {
 public:
  explicit closable_callback(std::function<void(Arguments...)> callback)
      : callback_{std::move(callback)} {}

  void call(Arguments... arguments) {
    const std::lock_guard lock{calling_};
    if (!is_closed_) callback_(arguments...);
  }

  /// No call begins after it. Waits for a call under way, unless that call closes it.
  void close() noexcept {
    const std::lock_guard lock{calling_};
    is_closed_ = true;
  }

 private:
  std::recursive_mutex calling_;  // the callback may destroy its owner
  const std::function<void(Arguments...)> callback_;
  bool is_closed_ = false;
};

}  // namespace rowlock::detail

#endif
