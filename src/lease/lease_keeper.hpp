// The leases of a lock_table, from grant to release.
#ifndef ROWLOCK_LEASE_LEASE_KEEPER_HPP
#define ROWLOCK_LEASE_LEASE_KEEPER_HPP

#include <atomic>
#include <condition_variable>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/serial_executor.hpp"
#include "base/worker_pool.hpp"
#include "batch/statement_batcher.hpp"
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "lease/renewer.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_table.hpp"
#include "wait/outage.hpp"
#include "wait/wait_loop.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

/// Starts three threads with the first lease, so that no task delays another:
///   renewer    calls the store, and may hang there;
///   watcher    ends leases at their deadlines, and never blocks;
///   losses     runs the callbacks on `lease::lost()`.
/// The wait queue has a fourth thread, an observer has one more, and non-blocking operations have a
/// worker pool.
///
/// Operations, the renewer and the wait queue use the store, none of them after `close`.
///
/// In a child of fork() the keeper does nothing and must not be destroyed: its threads are missing.
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

  /// Returns a guard during which the store may be used, or nothing after `close`, which waits for
  /// all guards. Not for use in a child of fork().
  class operation_guard;
  [[nodiscard]] std::optional<operation_guard> begin_operation();

  /// `close` requests a stop: waits during operations end.
  [[nodiscard]] std::stop_token closing() const noexcept { return closing_.get_token(); }

  /// To be called before any lease is requested. Throws `error` (unavailable) if a thread cannot be
  /// started.
  void start_threads();

  /// Takes up the grant of a request made at `requested_at`. Returns null if its deadline has
  /// passed; the grant is then released.
  std::shared_ptr<lease_state> take_up(const lease_request& wanted, const acquire_answer& granted,
                                       boot_clock::time_point requested_at);

  /// For an attempt that is over. A statement whose answer got lost may still hand it the row of
  /// the lease with version `handed_by`; that grant is then released.
  void return_if_granted(const acquire_request& unwanted, version handed_by);

  [[nodiscard]] event_dispatcher& events() noexcept { return events_; }

  [[nodiscard]] wait_queue& waiting() noexcept { return queue_; }
  /// To be called before a wait. Throws as `wait_loop::start`.
  void start_waiting() { loop_.start(); }

  /// For acquires and releases; all other calls go to its `target`.
  [[nodiscard]] statement_batcher& batcher() noexcept { return batcher_; }

  /// Whether the database is unreachable; shared by all waits.
  [[nodiscard]] detail::outage& outage() noexcept { return outage_; }

  /// Runs the calls of non-blocking operations.
  [[nodiscard]] detail::worker_pool& worker_pool() noexcept { return pool_; }

  /// Ends possession and releases the row, which remembers how the work ended. Where memory is not
  /// enough for that, the row is free when the lease runs out (`deferred`).
  release_result release(lease_state& ended, const work_result& how) noexcept;
  /// Releases several leases together. One result for each, in the same order.
  void release(std::span<lease_state* const> ended, std::span<release_result> results,
               const work_result& how) noexcept;

  note_result write_note(const lease_state& noted, const std::string& note);

  /// Ends possession at once; the row is released in the background.
  void release_later(lease_state& ended) noexcept;
  /// During an operation, even while `close` waits for it.
  void release_later(lease_state& ended, const work_result& how,
                     const operation_guard& here) noexcept;

  /// Ends the leases whose rows no longer belong to them. One round trip.
  void read_for_losses(const lease_states& doubted) noexcept;

  /// Ends possession: a transaction has released the row.
  void released_by_commit(lease_state& ended) noexcept;

  /// Marks all leases lost, releases their rows as far as two seconds allow, and ends the threads.
  void close() noexcept;

 private:
  void watch();
  /// Throws `std::bad_alloc`; the leases that have ended by then have a result.
  void release_now(std::span<lease_state* const> ended, std::span<release_result> results,
                   const work_result& how);
  /// Marks all leases lost; their rows are released in the background.
  void end_leases() noexcept;
  void return_grant(const acquire_request& unwanted, version granted);
  void emit_released(const lease_state& ended, release_result result, bool failed,
                     boot_clock::time_point began) noexcept;
  void emit_ended(const lease_state& ended, release_result result, bool failed,
                  boot_clock::time_point began) noexcept;
  void emit_force_released(const lease_state& ended, boot_clock::time_point began) noexcept;

  const home_process home_;
  const lock_options options_;
  statement_batcher batcher_;
  store& target_;
  std::stop_source closing_;
  event_dispatcher events_;
  lease_registry registry_;
  detail::outage outage_;
  wait_queue queue_;
  wait_loop loop_;
  detail::worker_pool pool_;

  checked_mutex mutex_;
  std::condition_variable operation_ended_;
  unsigned operations_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  bool closed_ ROWLOCK_GUARDED_BY(mutex_) = false;

  // Started once, with mutex_ locked; constant once `has_threads_` is true, until `close`.
  std::atomic<bool> has_threads_{false};
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
