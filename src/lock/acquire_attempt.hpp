// One attempt to acquire a key, from the first try to the end of its wait.
#ifndef ROWLOCK_LOCK_ACQUIRE_ATTEMPT_HPP
#define ROWLOCK_LOCK_ACQUIRE_ATTEMPT_HPP

#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "lease/lease_keeper.hpp"
#include "lock/queue_wait.hpp"
#include "rowlock/retry.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

/// The fault of a grant whose answer arrived after the deadline of the lease.
std::exception_ptr granted_too_late();

/// The steps of an attempt, shared by blocking and non-blocking callers. It tries at once, unless
/// other waiters of this process are queued for the key. Then it waits in the queue.
///
/// Thread-safety: as `queue_wait`.
class acquire_attempt : public queue_wait {
 public:
  /// Whether other threads may read the request while a grant is taken up. If not, its texts move
  /// into the lease.
  enum class readers { one_thread, several_threads };
  acquire_attempt(lease_keeper& leases, lease_request wanted, retry_policy wait, readers read_by);

  [[nodiscard]] const lock_key& key() const noexcept { return wanted_.request.key; }

  /// Returns nothing if the attempt has to wait in the queue. Blocks during the try.
  std::optional<attempt_end> first_try();

  /// Starts a wait in the queue. `answered` is called with its result, unless the attempt left the
  /// queue.
  void enqueue(std::function<void(attempt_end)> answered);

  /// Reports the result to the observer.
  void report(const attempt_end& end);

 private:
  attempt_end try_once();
  attempt_end end_of(wait_result how);
  /// The result after a failed first try; nothing if the attempt still waits.
  std::optional<attempt_end> outlast(attempt_end failed, boot_clock::time_point tried_at);

  lease_request wanted_;  // read by one thread: without its texts once granted
  const readers read_by_;
  wait_queue::try_result first_try_;
  bool has_failed_ = false;  // the last try, by a fault of the store
};

/// To be called during an operation. Blocks until the attempt ends.
attempt_end acquire(lease_keeper& leases, lease_request wanted, retry_policy wait);

}  // namespace rowlock::detail

#endif
