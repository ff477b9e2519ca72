// Tells of lost leases, in a thread of its own, because callbacks are the user's code.
#ifndef ROWLOCK_CORE_MESSENGER_HPP
#define ROWLOCK_CORE_MESSENGER_HPP

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "core/kept_lease.hpp"

namespace rowlock::detail {

/// Thread-safety: all members may be called from any thread.
class messenger {
 public:
  messenger();
  messenger(const messenger&) = delete;
  messenger& operator=(const messenger&) = delete;
  /// Tells what is still to be told, then ends. In a callback that it runs itself, it lets the
  /// thread end alone.
  ~messenger();

  /// Requests a stop on `lost` of each.
  void tell(kept_leases lost);

 private:
  struct queue {
    std::mutex mutex;
    std::condition_variable wakeup;
    kept_leases to_tell;  // guarded by mutex
    bool ending = false;  // guarded by mutex
  };

  static void run(const std::shared_ptr<queue>& told);

  std::shared_ptr<queue> queue_;  // shared with a thread that may outlive us
  std::thread thread_;
};

}  // namespace rowlock::detail

#endif
