// One attempt to acquire several rows, all or any, with its place in line.
#ifndef ROWLOCK_LOCK_SET_ATTEMPT_HPP
#define ROWLOCK_LOCK_SET_ATTEMPT_HPP

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mailbox.hpp"
#include "base/threads.hpp"
#include "lease/lease_keeper.hpp"
#include "lock/queue_wait.hpp"
#include "rowlock/error.hpp"
#include "rowlock/lock_table.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::detail {

struct set_request {
  /// Of distinct keys, in order of preference.
  std::vector<lease_request> leases = {};
  /// At most this many of the keys; without a value, all of them or none.
  std::optional<std::size_t> limit = std::nullopt;
};

/// Why a try was refused, and the rows of which one has to become free.
struct obstacle {
  refusal why;
  std::vector<lock_key> rows;
  /// Whether the attempt keeps other rows that it has acquired.
  bool keeps_rows = false;
};

struct set_answer {
  lease_states granted = {};
  std::optional<refusal> refused = std::nullopt;
};

/// Tries in the caller's thread: at once, unless other callers of this process wait in the same
/// line, and then in its turn. All tries have one owner, so a later try recognises a grant whose
/// answer got lost.
///
/// Thread-safety: one thread at a time. To be used during an operation.
class set_attempt : public queue_wait {
 public:
  /// Those with the same name and the same rows stand in one line. Throws `error` (misuse) for an
  /// invalid policy.
  set_attempt(lease_keeper& leases, const acquire_options& options, std::string_view name,
              std::vector<lock_key> rows);
  set_attempt(const set_attempt&) = delete;
  set_attempt& operator=(const set_attempt&) = delete;
  /// Leaves the line.
  ~set_attempt();

  [[nodiscard]] const owner_id& owner() const noexcept { return owner_; }
  /// Goes on as a new owner: the grants of the last one are being released.
  void begin_anew();

  /// Whether the policy permits another try.
  [[nodiscard]] bool is_patient() const noexcept { return can_wait(); }

  /// Calls `try_once` in the attempt's turns until it returns no obstacle. Returns the final
  /// refusal, or nothing on success: then the attempt stays the first in line. Throws the fault of
  /// the last try, or of an earlier one that may have been granted.
  template <class Try>
  std::optional<refusal> go_on(const Try& try_once) {
    await_turn();
    while (!end_) {
      tried_at_ = leases().now();
      std::optional<obstacle> met;
      std::exception_ptr fault;
      try {
        met = try_once();
      } catch (const error&) {
        fault = std::current_exception();
      }
      if (fault == nullptr && !met) return std::nullopt;
      fault == nullptr ? refused(*std::move(met)) : failed(fault);
    }
    return over();
  }
  /// Runs all steps of the attempt, which return its refusal. Then leaves the line, and reports a
  /// refusal or a fault.
  template <class Steps>
  std::optional<refusal> run(const Steps& steps) {
    try {
      auto refused = steps();
      leave_line();
      if (refused) report({.refused = refused});
      return refused;
    } catch (...) {
      report({.fault = std::current_exception()});
      throw;
    }
  }

  /// One try for these keys, to be made by `try_once`. Reports grants.
  set_answer try_for(set_request& wanted);

  /// Whether an earlier try may have been granted.
  [[nodiscard]] bool is_in_doubt() const noexcept { return doubt_ != nullptr; }
  /// To be called when the last try has resolved the doubt.
  void forget_doubt() noexcept { doubt_ = nullptr; }

 private:
  /// Returns in the attempt's turn, or with `end_` set.
  void await_turn();
  void refused(obstacle met);
  void failed(const std::exception_ptr& fault);
  void join_line(const wait_queue::try_result& how, std::vector<lock_key> awaited);
  /// Waits in line for the next turn.
  void wait_after(const wait_queue::try_result& how, std::vector<lock_key> awaited);
  void leave_line() noexcept;
  [[nodiscard]] std::optional<refusal> over() const;
  void report(const attempt_end& end);

  const std::vector<lock_key> rows_;
  const lock_key line_;  // no row has this key
  const std::string holder_;
  const std::string correlation_id_;
  const either_stop stop_;
  owner_id owner_;
  std::exception_ptr doubt_ = nullptr;
  std::vector<lock_key> taken_;  // by the last try
  bool keeps_rows_ = false;      // since the last refusal
  bool is_too_late_ = false;     // a grant was answered after the deadline of its lease
  boot_clock::time_point tried_at_{};
  std::shared_ptr<mailbox<attempt_end>> turn_;  // null before a wait
  std::optional<attempt_end> end_;
};

}  // namespace rowlock::detail

#endif
