// The leases of a lock_table, from grant to release.
#ifndef ROWLOCK_LEASE_LEASE_KEEPER_HPP
#define ROWLOCK_LEASE_LEASE_KEEPER_HPP

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/serial_executor.hpp"
#include "base/worker_pool.hpp"
#include "batch/statement_batcher.hpp"
#include "lease/deferred_releases.hpp"
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "lease/operation_gate.hpp"
#include "lease/releaser.hpp"
#include "lease/renewer.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/watch.hpp"
#include "wait/outage.hpp"
#include "wait/wait_loop.hpp"
#include "wait/wait_queue.hpp"
#include "watch/key_watcher.hpp"

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
  /// all guards.
  [[nodiscard]] std::optional<operation_gate::guard> begin_operation() noexcept {
    return gate_.enter();
  }
  /// For calls that share no statement; during an operation.
  [[nodiscard]] store& target() const noexcept { return target_; }

  /// `close` requests a stop: waits during operations end.
  [[nodiscard]] std::stop_token closing() const noexcept { return closing_.get_token(); }

  /// To be called before any lease is requested. Throws `error` (unavailable) if a thread cannot be
  /// started.
  void start_threads();

  /// Takes up a grant requested at `requested_at`; the request's texts move into the lease. Returns
  /// null if its deadline has passed: then the grant is released, and `wanted` has its key and its
  /// correlation id.
  std::shared_ptr<lease_state> take_up(lease_request& wanted, const acquire_answer& granted,
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

  [[nodiscard]] detail::releaser& releaser() noexcept { return releaser_; }

  note_result write_note(const lease_state& noted, const std::string& note);

  /// As the members of `lease`.
  extend_result extend(const std::shared_ptr<lease_state>& extended, std::chrono::milliseconds ttl);
  std::shared_ptr<risk> watch_risk(lease_state& watched, std::chrono::milliseconds before,
                                   std::function<void(bool)> callback);
  void end_watch(lease_state& watched, const std::shared_ptr<risk>& ended) noexcept;
  std::stop_token wanted(lease_state& held);
  /// During an operation. Throws `error` (unavailable) if no thread can be started.
  std::shared_ptr<watched_entry> watch(lock_key key, watch_callback callback);
  void end_watch(const std::shared_ptr<watched_entry>& ended) noexcept;
  [[nodiscard]] std::optional<ask_mark> asked(const lease_state& held);
  std::string pass_on(lease_state& passed);

  /// Ends the leases whose rows no longer belong to them. One round trip.
  void read_for_losses(const lease_states& doubted) noexcept;

  /// Marks all leases lost, releases their rows as far as two seconds allow, and ends the threads.
  void close() noexcept;

 private:
  void watch_deadlines();
  void listen();
  void lose(const lease_states& lost, loss_reason why);
  /// Marks all leases lost; their rows are released in the background.
  void end_leases() noexcept;
  void return_grant(const acquire_request& unwanted, version granted);

  const home_process home_;
  const lock_options options_;
  statement_batcher batcher_;
  store& target_;
  std::stop_source closing_;
  operation_gate gate_;
  event_dispatcher events_;
  lease_registry registry_;
  detail::outage outage_;
  wait_queue queue_;
  wait_loop loop_;
  key_watcher watcher_;
  deferred_releases deferred_;
  detail::releaser releaser_;
  detail::worker_pool pool_;

  checked_mutex starting_;
  // Started once, with starting_ locked; constant once `has_threads_` is true, until `close`.
  std::atomic<bool> has_threads_{false};
  std::optional<serial_executor> loss_executor_;
  std::optional<renewer> renewer_;
  std::thread renewer_thread_;
  std::thread watcher_thread_;
};

}  // namespace rowlock::detail

#endif
