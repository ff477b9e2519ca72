// The leases of a lock_table: grants in, releases out.
#ifndef ROWLOCK_LEASE_LEASE_KEEPER_HPP
#define ROWLOCK_LEASE_LEASE_KEEPER_HPP

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/serial_executor.hpp"
#include "base/worker_pool.hpp"
#include "batch/statement_batcher.hpp"
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "lease/renewer.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_table.hpp"
#include "wait/outage.hpp"
#include "wait/wait_loop.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

/// Three threads, started with the first lease, so that none of three things waits for another (the
/// wait queue has a fourth):
///   renewer    talks to the store, and may hang there;
///   watcher    looks at the clock and ends the leases whose deadline has come; it never blocks;
///   losses     runs the callbacks on `lease::lost()`.
/// An observer has one more, and operations that do not block have a worker pool.
///
/// The store is used by operations, the renewer and the wait queue, and not after `close`.
///
/// In a child of fork() it does nothing, and must not be destroyed: it has none of its threads.
///
/// Thread-safety: all members may be called from any thread.
class lease_keeper {
 public:
  lease_keeper(store& target, lock_options options);
  lease_keeper(const lease_keeper&) = delete;
  lease_keeper& operator=(const lease_keeper&) = delete;
  ~lease_keeper() = default;

  [[nodiscard]] const lock_options& options() const noexcept { return options_; }
  [[nodiscard]] time_source& time() const noexcept { return *options_.time; }
  [[nodiscard]] boot_clock::time_point now() const noexcept { return options_.time->now(); }

  [[nodiscard]] const home_process& home() const noexcept { return home_; }

  /// Leave to use the store; none once closed. `close` waits for its end. Not in a child of fork().
  class operation_guard;
  [[nodiscard]] std::optional<operation_guard> begin_operation();

  /// Requested by `close`: a wait during an operation ends.
  [[nodiscard]] std::stop_token closing() const noexcept { return closing_.get_token(); }

  /// Before anything is asked for that may have to be kept. Throws `error` (unavailable) when the
  /// system lets us start no thread.
  void start_threads();

  /// Takes up a grant that was asked for at `asked`. Null if its deadline has come already: then it
  /// is given back.
  std::shared_ptr<lease_state> take_up(const lease_request& wanted, const acquire_answer& granted,
                                       boot_clock::time_point asked);

  /// Of an attempt that is over: gives its grant back if it is made after all by a statement whose
  /// answer got lost, and which was to hand over the row of the lease with version `handed_by`.
  void return_if_granted(const acquire_request& unwanted, version handed_by);

  /// Tells the observer, if there is one.
  [[nodiscard]] event_dispatcher& events() noexcept { return events_; }

  /// The waits of operations.
  [[nodiscard]] wait_queue& waiting() noexcept { return queue_; }
  /// Before a wait. Throws as `wait_loop::start`.
  void start_waiting() { loop_.start(); }

  /// Acquires and releases; its `target` is for all other calls.
  [[nodiscard]] statement_batcher& batcher() noexcept { return batcher_; }

  /// Whether the database is away, for those who wait.
  [[nodiscard]] detail::outage& outage() noexcept { return outage_; }

  /// Makes the calls of operations that do not block.
  [[nodiscard]] detail::worker_pool& worker_pool() noexcept { return pool_; }

  /// Ends possession and unsets the row, which remembers how the work ended.
  release_result release(lease_state& ended, const work_result& how) noexcept;
  /// Of several, together. One result for each, in their order.
  std::vector<release_result> release(std::span<lease_state* const> ended,
                                      const work_result& how) noexcept;

  note_result write_note(const note_request& request);

  /// Ends possession at once and unsets the row in the background.
  void release_later(lease_state& ended) noexcept;
  /// During an operation, even one that lasts while the keeper is being closed.
  void release_later(lease_state& ended, const work_result& how,
                     const operation_guard& here) noexcept;

  /// Ends those of the leases whose rows are no longer theirs. One round trip.
  void read_for_losses(const lease_states& doubted) noexcept;

  /// Ends possession: a transaction has unset the row.
  void released_by_commit(lease_state& ended) noexcept;

  /// Marks all leases lost, unsets their rows as far as two seconds allow, and ends the threads.
  void close() noexcept;

 private:
  void watch();
  /// Marks all leases lost; their rows are unset in the background.
  void end_leases() noexcept;
  void return_grant(const acquire_request& unwanted, version granted);
  void emit_released(const lease_state& ended, release_result result, bool failed,
                     boot_clock::time_point began) noexcept;
  void emit_ended(const lease_state& ended, release_result result, bool failed,
                  boot_clock::time_point began) noexcept;
  void emit_force_released(const lease_state& ended, boot_clock::time_point began) noexcept;

  const home_process home_;
  const lock_options options_;  // constant after construction
  statement_batcher batcher_;
  store& target_;
  std::stop_source closing_;
  event_dispatcher events_;
  lease_registry registry_;
  detail::outage outage_;
  wait_queue queue_;
  wait_loop loop_;
  detail::worker_pool pool_;

  std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable operation_ended_;
  unsigned operations_ = 0;
  bool closed_ = false;
  std::optional<serial_executor> loss_executor_;
  std::optional<renewer> renewer_;
  std::thread renewer_thread_;
  std::thread watcher_thread_;
};

class lease_keeper::operation_guard {
 public:
  explicit operation_guard(lease_keeper& keeper) noexcept : keeper_{&keeper} {}
  operation_guard(operation_guard&& other) noexcept
      : keeper_{std::exchange(other.keeper_, nullptr)} {}
  operation_guard(const operation_guard&) = delete;
  operation_guard& operator=(const operation_guard&) = delete;
  operation_guard& operator=(operation_guard&&) = delete;
  ~operation_guard();

  [[nodiscard]] store& target() const noexcept { return keeper_->target_; }

 private:
  lease_keeper* keeper_;
};

}  // namespace rowlock::detail

#endif
