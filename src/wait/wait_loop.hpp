// The ends of waits, to be told once the mutex of the waiting room is free again.
#ifndef ROWLOCK_WAIT_WAIT_LOOP_HPP
#define ROWLOCK_WAIT_WAIT_LOOP_HPP

#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/faults.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

/// Thread-safety: one thread at a time.
class pending_results {
 public:
  void add(std::shared_ptr<waiter> ended, attempt_end how) {
    ends_.emplace_back(std::move(ended), std::move(how));
  }
  void add(const waiters& ended, refusal why, refusal_reason reason) {
    why.reason = reason;
    for (const auto& each : ended) add(each, {.refused = why});
  }
  /// Each has the fault alone, and may change what it catches. Of one in doubt, the first fault
  /// says more.
  void add(const waiters& ended, const std::exception_ptr& fault) {
    for (const auto& each : ended) {
      add(each, {.fault = copied_fault(each->is_in_doubt ? each->fault : fault)});
    }
  }
  /// Their tries are used up: `why`, but for those whose last try failed.
  void add_exhausted(const waiters& ended, refusal why) {
    why.reason = refusal_reason::timed_out;
    for (const auto& each : ended) {
      if (each->fault != nullptr) {
        add(each, {.fault = copied_fault(each->fault)});
      } else {
        add(each, {.refused = why});
      }
    }
  }
  /// Unless it is `wanted`, the grant is given back.
  void add_grant(std::shared_ptr<waiter> to, acquire_answer granted, bool wanted,
                 unsigned handoffs = 0) {
    grants_.push_back({std::move(to), std::move(granted), wanted, handoffs});
  }
  /// It has left, and may have been granted: the grant is given back.
  void add_doubt(std::shared_ptr<waiter> left) { doubts_.push_back(std::move(left)); }

  void deliver(const grant_sink& sink, boot_clock::time_point tried_at) {
    for (const auto& [to, granted, wanted, handoffs] : grants_) {
      if (!wanted) {
        sink.return_grant(to->wanted, *granted.version);
      } else if (auto kept = sink.take_up(to->wanted, granted, tried_at)) {
        kept->handoffs = handoffs;
        to->done({.granted = std::move(kept)});
      } else {
        to->done(granted_too_late());
      }
    }
    for (const auto& left : doubts_) {
      sink.return_if_granted(left->wanted, left->handed_by.value_or(version{}));
    }
    for (auto& [ended, how] : ends_) {
      if (ended->handed_by) sink.return_if_granted(ended->wanted, *ended->handed_by);
      ended->done(std::move(how));
    }
  }

 private:
  struct grant {
    std::shared_ptr<waiter> to;
    acquire_answer granted;
    bool wanted;
    unsigned handoffs;
  };

  std::vector<std::pair<std::shared_ptr<waiter>, attempt_end>> ends_;
  std::vector<grant> grants_;
  waiters doubts_;
};

}  // namespace rowlock::detail

#endif
