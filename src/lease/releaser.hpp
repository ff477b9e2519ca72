// The release of leases by their holders.
#ifndef ROWLOCK_LEASE_RELEASER_HPP
#define ROWLOCK_LEASE_RELEASER_HPP

#include <memory>
#include <span>
#include <stop_token>

#include "batch/statement_batcher.hpp"
#include "lease/deferred_releases.hpp"
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "lease/lease_state.hpp"
#include "lease/operation_gate.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/lease.hpp"
#include "wait/wait_loop.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

/// A lease that has ended, and its place among those that the caller releases.
struct ended_lease {
  lease_state* lease;
  std::size_t place;
};

/// Ends possession first, then releases the row: in one statement with the grant to the next waiter
/// of this process, in one of its own, or later in the background.
///
/// In a child of fork() it does nothing.
///
/// Thread-safety: all members may be called from any thread.
class releaser {
 public:
  /// All but `time` must outlive this object.
  releaser(const home_process& home, operation_gate& gate, lease_registry& registry,
           statement_batcher& batcher, wait_queue& queue, wait_loop& loop,
           deferred_releases& deferred, event_dispatcher& events, std::shared_ptr<time_source> time,
           std::stop_token closing);

  /// The row remembers how the work ended. Where memory is not enough for that, the row is free
  /// when the lease runs out (`deferred`).
  release_result release(lease_state& ended, const work_result& how) noexcept;
  /// Releases several leases together. One result for each, in the same order.
  void release(std::span<lease_state* const> ended, std::span<release_result> results,
               const work_result& how) noexcept;

  /// Reports a lease that ended without a release.
  void passed_on(const lease_state& passed, boot_clock::time_point began) noexcept;

  /// Ends possession at once; the row is released in the background.
  void release_later(lease_state& ended) noexcept;
  /// During an operation, even while the gate is closed.
  void release_later(lease_state& ended, const work_result& how,
                     const operation_gate::guard& here) noexcept;

  /// Ends possession: a transaction has released the row.
  void released_by_commit(lease_state& ended) noexcept;

 private:
  /// Leases that are to be released, with a request for each. Its owner has the memory.
  struct pending {
    std::span<ended_lease> each;
    std::span<release_request> requests;

    void swap(std::size_t one, std::size_t other) const;
    [[nodiscard]] pending first(std::size_t count) const {
      return {each.first(count), requests.first(count)};
    }
  };

  /// Ends possession. False if the lease is lost; `result` says so, or that it was released before.
  bool end(lease_state& ended, boot_clock::time_point began, release_result& result) noexcept;
  /// Throws `std::bad_alloc`; the leases that have ended by then have a result.
  void release_now(std::span<lease_state* const> ended, std::span<release_result> results,
                   const work_result& how);
  void release_rows(pending left, std::span<release_result> results, const work_result& how,
                    boot_clock::time_point began);
  /// Only a single lease is handed off: the leases of a set are released in one statement.
  bool hand_off(const pending& all);
  /// One try. `left` is what is not reported yet, also after an exception; else leases with busy
  /// rows.
  template <class Report>
  void release_once(pending& left, const Report& report);
  /// Reads rows that no longer belong to their leases, to see whether a transaction released them.
  template <class Report>
  void report_by_read(std::span<const ended_lease> doubted, const Report& report);
  void emit_released(const lease_state& ended, release_result result, bool failed,
                     boot_clock::time_point began) noexcept;
  void emit_ended(const lease_state& ended, release_result result, bool failed,
                  boot_clock::time_point began) noexcept;

  const home_process& home_;
  operation_gate& gate_;
  lease_registry& registry_;
  statement_batcher& batcher_;
  wait_queue& queue_;
  wait_loop& loop_;
  deferred_releases& deferred_;
  event_dispatcher& events_;
  const std::shared_ptr<time_source> time_;
  const std::stop_token closing_;
};

}  // namespace rowlock::detail

#endif
