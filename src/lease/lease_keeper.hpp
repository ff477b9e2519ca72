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
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "lease/renewer.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_table.hpp"
#include "wait/outage.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

/// Three threads, started with the first lease, so that none of three things waits for another (the
/// waiting room has a fourth):
///   renewer    talks to the store, and may hang there;
///   watcher    looks at the clock and ends the leases whose deadline has come; it never blocks;
///   messenger  runs the callbacks on `lease::lost()`.
/// An observer is told in one more, and visitors who do not block have a crew.
///
/// The store is used by visitors, the renewer and the waiting room, and by nobody after `close`.
///
/// In a child of fork() it does nothing, and must not be destroyed: it has none of its threads.
///
/// Thread-safety: all members may be called from any thread.
class keeper {
 public:
  keeper(store& rows, lock_options options);
  keeper(const keeper&) = delete;
  keeper& operator=(const keeper&) = delete;
  ~keeper() = default;

  [[nodiscard]] const lock_options& options() const noexcept { return options_; }
  [[nodiscard]] time_source& time() const noexcept { return *options_.time; }
  [[nodiscard]] boot_clock::time_point now() const noexcept { return options_.time->now(); }

  [[nodiscard]] const home_process& home() const noexcept { return home_; }

  /// Leave to use the store; none once closed. `close` waits for its end. Not in a child of fork().
  class visit;
  [[nodiscard]] std::optional<visit> enter();

  /// Requested by `close`: whoever waits during a visit gives up.
  [[nodiscard]] std::stop_token closing() const noexcept { return closing_.get_token(); }

  /// Before anything is asked for that may have to be kept. Throws `error` (unavailable) when the
  /// system lets us start no thread.
  void start_threads();

  /// Takes up a grant that was asked for at `asked`. Null if its deadline has come already: then it
  /// is given back.
  std::shared_ptr<kept_lease> keep(const wanted_lease& wanted, const acquire_answer& granted,
                                   boot_clock::time_point asked);

  /// Of an attempt that is over: gives its grant back if it is made after all by a statement whose
  /// answer got lost, and which was to hand over the row of the lease with version `handed_by`.
  void give_back_if_granted(const wanted_lease& unwanted, version handed_by);

  /// Tells the observer, if there is one.
  [[nodiscard]] herald& events() noexcept { return events_; }

  /// Where visitors wait.
  [[nodiscard]] waiting_room& waiting() noexcept { return waiting_; }

  /// Whether the database is away, for those who wait.
  [[nodiscard]] detail::outage& outage() noexcept { return outage_; }

  /// Makes the calls of visitors who do not block.
  [[nodiscard]] detail::crew& crew() noexcept { return crew_; }

  /// Ends possession and unsets the row, which remembers how the work ended.
  release_result release(kept_lease& ended, const work_end& how) noexcept;
  /// Of several, together. One result for each, in their order.
  std::vector<release_result> release(std::span<kept_lease* const> ended,
                                      const work_end& how) noexcept;

  note_result write_note(const note_request& request);

  /// Ends possession at once and unsets the row in the background.
  void release_later(kept_lease& ended) noexcept;
  /// During a visit, even one that lasts while the keeper is being closed.
  void release_later(kept_lease& ended, const work_end& how, const visit& here) noexcept;

  /// Ends those of the leases whose rows are no longer theirs. One round trip.
  void look_for_losses(const kept_leases& doubted) noexcept;

  /// Ends possession: a transaction has unset the row.
  void released_by_commit(kept_lease& ended) noexcept;

  /// Marks all leases lost, unsets their rows as far as two seconds allow, and ends the threads.
  void close() noexcept;

 private:
  void watch();
  /// Marks all leases lost; their rows are unset in the background.
  void end_leases() noexcept;
  void give_back(const kept_lease& unwanted);
  void tell_released(const kept_lease& ended, release_result result, bool failed,
                     boot_clock::time_point began) noexcept;
  void tell_ended(const kept_lease& ended, release_result result, bool failed,
                  boot_clock::time_point began) noexcept;
  void tell_taken_away(const kept_lease& ended, boot_clock::time_point began) noexcept;

  const home_process home_;
  const lock_options options_;                     // constant after construction
  const std::unique_ptr<grouping_store> grouped_;  // null: each call has its own statement
  store& rows_;
  std::stop_source closing_;
  herald events_;
  lease_book book_;
  detail::outage outage_;
  waiting_room waiting_;
  detail::crew crew_;

  std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable visitor_left_;
  unsigned visitors_ = 0;
  bool closed_ = false;
  std::optional<messenger> messenger_;
  std::optional<renewer> renewer_;
  std::thread renewer_thread_;
  std::thread watcher_thread_;
};

class keeper::visit {
 public:
  explicit visit(keeper& visited) noexcept : visited_{&visited} {}
  visit(visit&& other) noexcept : visited_{std::exchange(other.visited_, nullptr)} {}
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  visit& operator=(visit&&) = delete;
  ~visit();

  [[nodiscard]] store& rows() const noexcept { return visited_->rows_; }

 private:
  keeper* visited_;
};

}  // namespace rowlock::detail

#endif
