// A call that may share a statement with others, and a queue of such calls.
#ifndef ROWLOCK_BATCH_BATCH_SCHEDULE_HPP
#define ROWLOCK_BATCH_BATCH_SCHEDULE_HPP

#include <chrono>
#include <cstddef>
#include <utility>

#include "base/one_shot.hpp"

namespace rowlock::detail {

/// What calls ask for; only calls for the same share a statement.
enum class statement_kind { acquire, release };

/// On the stack of the thread that made it.
struct meeting_call {
  enum class fate {
    leading,   ///< Its thread makes the statement, for itself and those that follow.
    answered,  ///< Somebody else's thread has made it.
    alone,     ///< The shared one failed, perhaps because of another call.
  };

  meeting_call(statement_kind asks_for, std::size_t so_many) : kind{asks_for}, requests{so_many} {}

  const statement_kind kind;
  const std::size_t requests;
  meeting_call* next = nullptr;  ///< In a queue; behind one that leads, those that it leads.
  // Of one that leads:
  std::chrono::steady_clock::time_point began = {};
  bool may_be_large = true;  ///< Until its statement begins and it is known.
  mailbox<fate> told;
};

/// First come, first served. Allocates nothing.
class call_queue {
 public:
  call_queue() = default;
  call_queue(const call_queue&) = delete;
  call_queue& operator=(const call_queue&) = delete;

  [[nodiscard]] std::size_t size() const { return size_; }

  void push_back(meeting_call& call) {
    *end_ = &call;
    end_ = &call.next;
    ++size_;
  }

  /// Takes out those of which `wanted` is true, in their order: a chain by `next`.
  template <class Predicate>
  meeting_call* take_if(const Predicate& wanted) {
    meeting_call* taken = nullptr;
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
  meeting_call* first_ = nullptr;
  meeting_call** end_ = &first_;
  std::size_t size_ = 0;
};

}  // namespace rowlock::detail

#endif
