// Schedule of batches: which calls share a statement, and which thread sends it.
#ifndef ROWLOCK_BATCH_BATCH_SCHEDULE_HPP
#define ROWLOCK_BATCH_BATCH_SCHEDULE_HPP

#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "base/mailbox.hpp"
#include "batch/batch_backoff.hpp"
#include "batch/batch_linger.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::detail {

/// A call, on the stack of the thread that makes it.
struct batched_call {
  enum class role {
    leading,   ///< Its thread sends the statement, for itself and the calls that follow it.
    answered,  ///< The thread of another call has sent it.
    alone,     ///< The shared statement failed, perhaps because of another call.
  };

  enum class ending {
    failed,
    unusual,  ///< Its time is not that of others of its kind.
    usual,
  };

  batched_call(statement_kind of_kind, std::size_t count) : kind{of_kind}, requests{count} {}

  const statement_kind kind;
  const std::size_t requests;
  batched_call* next = nullptr;  ///< In the queue; then the next call with the same leader.
  // Of leaders only: when the statement began, whether it was the only one, and how it ended.
  std::chrono::steady_clock::time_point began = {};
  bool is_one = false;
  ending ended = ending::failed;
  mailbox<role> result;
};

/// A FIFO queue that allocates nothing.
class call_queue {
 public:
  call_queue() = default;
  call_queue(const call_queue&) = delete;
  call_queue& operator=(const call_queue&) = delete;

  [[nodiscard]] std::size_t size() const { return size_; }

  void push_back(batched_call& call) {
    *end_ = &call;
    end_ = &call.next;
    ++size_;
  }

  /// Removes the calls for which `wanted` is true; returns them in order, as a chain by `next`.
  template <class Predicate>
  batched_call* take_if(const Predicate& wanted) {
    batched_call* taken = nullptr;
    auto** taken_end = &taken;
    auto** link = &first_;
    while (auto* each = *link) {
      if (!wanted(*each)) {
        link = &each->next;
        continue;
      }
      *link = std::exchange(each->next, nullptr);
      --size_;
      *taken_end = each;
      taken_end = &each->next;
    }
    end_ = link;
    return taken;
  }

 private:
  batched_call* first_ = nullptr;
  batched_call** end_ = &first_;
  std::size_t size_ = 0;
};

/// A call that finds no statement under way begins at once; all others queue. When a statement
/// ends, the first queued call leads the next one, for all queued calls of its kind. Calls that
/// arrive before its thread is awake, or during a short delay (`batch_linger`), join it.
///
/// Where there are too few calls, for a while after a slow statement (`batch_backoff`), and beside
/// one that takes unusually long, calls begin beside statements under way: at most `in_flight` of
/// them, one fewer for acquires.
///
/// Thread-safety: all members may be called from any thread.
class batch_schedule {
 public:
  struct limits {
    unsigned in_flight = 4;
    /// Requests in one statement; 1: none is shared.
    std::size_t max_batch = 256;
    /// As `store_limits::batching_pays_from`.
    std::size_t pays_from = 2;
    /// A statement that takes longer hangs, or the disk is very slow.
    std::chrono::milliseconds usual_time{20};
  };

  explicit batch_schedule(const limits& has, const batch_linger::limits& linger = {},
                          const batch_backoff::limits& backoff = {});

  /// Returns once the role of the call is known. A leader sends the statement for itself and for
  /// the calls that follow it by `next`, and then calls `end`.
  batched_call::role join(batched_call& call);
  /// Ends the leader's statement, and sets the role of the calls that followed it.
  void end(batched_call& leader, batched_call::role of_the_others) noexcept;

  [[nodiscard]] std::size_t waiting() const;

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_one_at_a_time() const ROWLOCK_REQUIRES(mutex_);
  [[nodiscard]] bool may_begin(statement_kind kind) const ROWLOCK_REQUIRES(mutex_);
  void begin(batched_call& leader) ROWLOCK_REQUIRES(mutex_);
  /// Chooses the calls that follow the leader. Returns a call that leads beside it, or null; the
  /// caller has to set its role.
  batched_call* lead(checked_lock& lock, batched_call& leader) ROWLOCK_REQUIRES(mutex_);
  /// Appends waiting calls to the leader, adds their requests to `requests`, and returns their
  /// number.
  std::size_t collect(batched_call& leader, std::size_t& requests) ROWLOCK_REQUIRES(mutex_);
  /// Removes the next call that may lead from the queue; null if none may. The caller has to set
  /// its role.
  batched_call* next_leader() ROWLOCK_REQUIRES(mutex_);

  const limits limits_;
  mutable checked_mutex mutex_;
  std::vector<const batched_call*> under_way_ ROWLOCK_GUARDED_BY(mutex_);  // leaders
  call_queue waiting_ ROWLOCK_GUARDED_BY(mutex_);
  std::size_t present_ ROWLOCK_GUARDED_BY(mutex_) = 0;  // calls waiting or under way
  batch_linger linger_ ROWLOCK_GUARDED_BY(mutex_);
  batch_backoff backoff_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::detail

#endif
