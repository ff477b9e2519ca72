// Which calls share a statement, and which thread sends it.
#ifndef ROWLOCK_BATCH_BATCH_SCHEDULE_HPP
#define ROWLOCK_BATCH_BATCH_SCHEDULE_HPP

#include <chrono>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "base/one_shot.hpp"
#include "batch/batch_linger.hpp"

namespace rowlock::detail {

/// What calls ask for; only calls for the same share a statement.
enum class statement_kind { acquire, release };

/// On the stack of the thread that made it.
struct batched_call {
  enum class role {
    leading,   ///< Its thread makes the statement, for itself and those that follow.
    answered,  ///< Somebody else's thread has made it.
    alone,     ///< The shared one failed, perhaps because of another call.
  };

  batched_call(statement_kind asks_for, std::size_t so_many) : kind{asks_for}, requests{so_many} {}

  const statement_kind kind;
  const std::size_t requests;
  batched_call* next = nullptr;  ///< In a queue; behind one that leads, those that it leads.
  // Of one that leads:
  std::chrono::steady_clock::time_point began = {};
  bool may_be_large = true;  ///< Until its statement begins and it is known.
  one_shot<role> result;
};

/// First come, first served. Allocates nothing.
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

  /// Takes out those of which `wanted` is true, in their order: a chain by `next`.
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

/// The first that finds no statement under way begins at once. The others stand in a queue; when a
/// statement ends, the first in the queue leads the next one, for all that ask for the same, those
/// included that come until its thread is awake, and those it waits for a moment (`batch_linger`).
/// Where few ask, others begin beside quick ones of a few calls; beside any, where fewer ask than
/// share to their advantage, and beside those that take unusually long; `in_flight` at most, one
/// fewer to acquire.
///
/// Thread-safety: all members may be called from any thread.
class batch_schedule {
 public:
  struct limits {
    unsigned in_flight = 4;
    /// Requests of a statement.
    std::size_t at_most = 256;
    /// Fewer calls at once are made side by side, as far as `in_flight` allows.
    std::size_t pays_from = 2;
    /// A statement that takes longer is stuck, or the disk is very slow.
    std::chrono::milliseconds usual_time{20};
  };

  explicit batch_schedule(const limits& has, const batch_linger::limits& patience = {});

  /// Returns once the fate of the call is known. One that leads makes the statement for itself and
  /// for those that follow it by `next`, and then calls `end`.
  batched_call::role join(batched_call& call);
  /// Tells those that followed the leader what became of them.
  void end(batched_call& leader, batched_call::role of_the_others) noexcept;

  [[nodiscard]] std::size_t waiting() const;

 private:
  using clock = std::chrono::steady_clock;

  // These are called with the mutex held.
  [[nodiscard]] bool may_begin(statement_kind kind) const;
  void begin(batched_call& leader);
  /// Chooses those that follow, and gives the mutex back.
  void lead(std::unique_lock<std::mutex> lock, batched_call& leader);
  /// Of those that wait, so that all ask for `requests` with them. How many there are.
  std::size_t collect(batched_call& leader, std::size_t& requests);
  /// The one that is to be told that it leads, if any may.
  batched_call* next_leader();

  const limits limits_;
  mutable std::mutex mutex_;
  std::vector<const batched_call*> under_way_;  // their leaders; guarded by mutex_
  call_queue waiting_;                          // guarded by mutex_
  std::size_t present_ = 0;                     // calls that wait or are made; guarded by mutex_
  batch_linger linger_;                         // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
