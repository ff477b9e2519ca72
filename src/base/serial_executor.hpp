// A thread that runs tasks in order.
#ifndef ROWLOCK_BASE_SERIAL_EXECUTOR_HPP
#define ROWLOCK_BASE_SERIAL_EXECUTOR_HPP

#include <condition_variable>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// Runs code of the user, which may block or destroy this object.
///
/// Thread-safety: all members may be called from any thread.
class serial_executor {
 public:
  serial_executor();
  serial_executor(const serial_executor&) = delete;
  serial_executor& operator=(const serial_executor&) = delete;
  /// Runs the remaining tasks, then ends the thread. If called by a task, it detaches the thread
  /// instead of joining it.
  ~serial_executor();

  /// `call` must not throw.
  void post(std::function<void()> call);

 private:
  struct queue {
    checked_mutex mutex;
    std::condition_variable wakeup;
    std::vector<std::function<void()>> calls ROWLOCK_GUARDED_BY(mutex);
    bool ending ROWLOCK_GUARDED_BY(mutex) = false;
  };

  static void run(const std::shared_ptr<queue>& tasks);

  std::shared_ptr<queue> queue_;  // shared with the thread, which may outlive this object
  std::thread thread_;
};

}  // namespace rowlock::detail

#endif
