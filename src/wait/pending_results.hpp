// Results of waits, collected under a mutex and delivered without it.
#ifndef ROWLOCK_WAIT_PENDING_RESULTS_HPP
#define ROWLOCK_WAIT_PENDING_RESULTS_HPP

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/faults.hpp"
#include "wait/key_queue.hpp"

namespace rowlock::detail {

/// Takes the grants of waiters that have left.
struct grant_sink {
  std::function<void(const acquire_request&, version granted)> return_grant;
  /// For a request that may still be granted, by a handoff of the lease with version `handed_by` if
  /// there is one.
  std::function<void(const acquire_request&, version handed_by)> return_if_granted;
};

/// Thread-safety: one thread at a time.
class pending_results {
 public:
  void add(std::shared_ptr<waiter> ended, wait_result how) {
    ends_.emplace_back(std::move(ended), std::move(how));
  }
  void add(const waiters& ended, refusal why, refusal_reason reason) {
    why.reason = reason;
    for (const auto& each : ended) add(each, {.refused = why});
  }
  /// Each waiter gets a copy, which it may change. A waiter in doubt gets the fault that caused the
  /// doubt.
  void add(const waiters& ended, const std::exception_ptr& fault) {
    for (const auto& each : ended) {
      add(each, {.fault = copied_fault(each->is_in_doubt ? each->fault : fault)});
    }
  }
  /// For a grant that no waiter takes.
  void add_unwanted(std::shared_ptr<waiter> left, version granted) {
    unwanted_.emplace_back(std::move(left), granted);
  }
  /// For a waiter that has left and may have been granted the key.
  void add_doubt(std::shared_ptr<waiter> left) { doubts_.push_back(std::move(left)); }

  /// To be called without a mutex held.
  void deliver(const grant_sink& sink) {
    for (const auto& [left, granted] : unwanted_) sink.return_grant(left->request, granted);
    for (const auto& left : doubts_) {
      sink.return_if_granted(left->request, left->handed_by.value_or(version{}));
    }
    for (auto& [ended, how] : ends_) {
      if (ended->handed_by && !how.granted) {
        sink.return_if_granted(ended->request, *ended->handed_by);
      }
      ended->done(std::move(how));
    }
  }

 private:
  std::vector<std::pair<std::shared_ptr<waiter>, wait_result>> ends_;
  std::vector<std::pair<std::shared_ptr<waiter>, version>> unwanted_;
  waiters doubts_;
};

}  // namespace rowlock::detail

#endif
