// A pool of threads for blocking calls.
#ifndef ROWLOCK_BASE_WORKER_POOL_HPP
#define ROWLOCK_BASE_WORKER_POOL_HPP

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// A pool that grows on demand up to a bound. Timers have one more thread, so they run on time even
/// while all workers hang in their calls.
///
/// Thread-safety: all members may be called from any thread, `close` only from threads outside the
/// pool.
class worker_pool {
 public:
  /// Must not throw.
  using task = std::function<void()>;
  /// Identifies a task scheduled for later.
  using timer = std::pair<boot_clock::time_point, std::uint64_t>;

  worker_pool(unsigned most, std::shared_ptr<time_source> time);

  /// Tasks begin in the order of their posts. Throws `error` (unavailable) if not even one thread
  /// can be started.
  void post(task work);

  /// Runs `work` on the thread of the timers, so it must not block. Throws `error` (unavailable) if
  /// that thread cannot be started.
  timer post_at(boot_clock::time_point when, task work);
  /// No effect once the task has begun.
  void cancel(const timer& made);

  /// Runs the posted tasks, drops all timers, and ends the threads.
  void close();

 private:
  void work();
  void watch();

  void start_worker() ROWLOCK_REQUIRES(mutex_);
  void do_unlocked(task begun) ROWLOCK_REQUIRES(mutex_);

  const unsigned most_;
  const std::shared_ptr<time_source> time_;

  checked_mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable first_changed_;
  std::deque<task> now_ ROWLOCK_GUARDED_BY(mutex_);
  std::map<timer, task> later_ ROWLOCK_GUARDED_BY(mutex_);
  std::uint64_t last_timer_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_ ROWLOCK_GUARDED_BY(mutex_);
  std::thread watcher_ ROWLOCK_GUARDED_BY(mutex_);
  std::size_t idle_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  bool is_closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
};

}  // namespace rowlock::detail

#endif
