// Threads for calls that block, so that who makes them does not.
#ifndef ROWLOCK_BASE_WORKER_POOL_HPP
#define ROWLOCK_BASE_WORKER_POOL_HPP

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "rowlock/clock.hpp"

namespace rowlock::detail {

/// A bounded number of threads, started when there is work for them. What is to be done later has
/// one thread more, which watches the clock: it is in time even while all the others hang in their
/// calls.
///
/// Thread-safety: all members may be called from any thread; `close` from none of its own.
class worker_pool {
 public:
  /// Must not throw.
  using task = std::function<void()>;
  /// What is to be done later.
  using timer = std::pair<boot_clock::time_point, std::uint64_t>;

  worker_pool(unsigned most, std::shared_ptr<time_source> time);

  /// First come, first served. Throws `error` (unavailable) where the system lets us start not even
  /// one thread.
  void post(task work);

  /// By the thread that watches the clock: `work` must not block. Throws `error` (unavailable)
  /// where the system does not let us start it.
  timer post_at(boot_clock::time_point when, task work);
  /// Without effect once it has begun.
  void cancel(const timer& made);

  /// Does what was to be done at once, forgets what was to be done later, and ends the threads.
  void close();

 private:
  void work();
  void watch();

  // These are called with the mutex held.
  void start_worker();
  static void do_unlocked(std::unique_lock<std::mutex>& lock, task begun);

  const unsigned most_;
  const std::shared_ptr<time_source> time_;

  std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable wake_;
  std::condition_variable first_changed_;
  std::deque<task> now_;
  std::map<timer, task> later_;
  std::uint64_t last_timer_ = 0;
  std::vector<std::thread> threads_;
  std::thread watcher_;
  std::size_t idle_ = 0;
  bool is_closed_ = false;
};

}  // namespace rowlock::detail

#endif
