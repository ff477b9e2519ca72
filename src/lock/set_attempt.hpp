// One attempt to acquire several keys, all or any, with its retries.
#ifndef ROWLOCK_LOCK_SET_ATTEMPT_HPP
#define ROWLOCK_LOCK_SET_ATTEMPT_HPP

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "base/faults.hpp"
#include "base/pause.hpp"
#include "base/threads.hpp"
#include "batch/doubt.hpp"
#include "lease/lease_keeper.hpp"
#include "rowlock/outcome.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/retry.hpp"
#include "wait/outage.hpp"

namespace rowlock::detail {

/// The pauses between the tries of an attempt, by its policy and until the keeper closes. To be
/// constructed just before the first try. All tries have one owner, so a later try recognises a
/// grant whose answer got lost.
class retry_pauses {
 public:
  retry_pauses(lease_keeper& leases, const retry_policy& wait)
      : leases_{leases},
        stop_{wait.stop, leases.closing()},
        policy_{until_stopped(wait, stop_.token())},
        pauses_{policy_, leases.options().time} {}
  /// For single tries within the time left of `whole`, which must outlive this object.
  retry_pauses(lease_keeper& leases, const retry_pauses& whole) : retry_pauses{leases, no_wait()} {
    whole_ = &whole;
  }

  [[nodiscard]] const owner_id& owner() const noexcept { return owner_; }
  /// Begins a new attempt with a new owner: the grants of the last one are being released.
  void begin_anew() {
    owner_ = make_owner_id();
    doubt_ = nullptr;
  }

  /// Whether the policy permits another try.
  [[nodiscard]] bool is_patient() const noexcept { return pauses_.is_patient(); }

  /// Whether the caller has no time for another try.
  [[nodiscard]] bool is_over() const {
    if (whole_ != nullptr && whole_->is_over()) return true;
    return stop_.token().stop_requested() || (is_patient() && pauses_.is_last_try());
  }

  /// Returns nothing after a pause that another try may follow, otherwise the final refusal. Throws
  /// the fault of an earlier try that may have been granted.
  std::optional<refusal> pause(refusal last) {
    leases_.outage().answered();
    const bool is_contention =
        last.reason == refusal_reason::held || last.reason == refusal_reason::busy;
    if (!is_contention) return last;
    const auto verdict = pauses_.pause(next_chance(last));
    if (verdict == backoff::verdict::again) return std::nullopt;
    if (doubt_ != nullptr) std::rethrow_exception(doubt_);
    return given_up(std::move(last), verdict, pauses_);
  }

  /// Whether the policy permits another try after this fault.
  [[nodiscard]] bool outlasts(const std::exception_ptr& fault) const {
    return detail::outlasts(policy_, fault);
  }

  /// As `pause`, after a try for `key` that failed. Throws the fault if no other try may follow.
  std::optional<refusal> pause_after(const std::exception_ptr& fault, const lock_key& key) {
    // The pauses of a single try keep no doubt: those of the whole attempt retry and keep it.
    if (!outlasts(fault)) std::rethrow_exception(doubt_ == nullptr ? fault : doubt_);
    if (doubt_ == nullptr && is_doubt(fault)) doubt_ = fault;
    const auto& thrown = doubt_ == nullptr ? fault : doubt_;
    auto& away = leases_.outage();
    away.failed(1, copied_fault(fault), leases_.now());
    const auto verdict = pauses_.pause();
    if (verdict == backoff::verdict::again && await_retry(away)) return std::nullopt;
    const bool is_stopped = policy_.stop.stop_requested();
    if (!is_stopped || doubt_ != nullptr) std::rethrow_exception(thrown);
    return refusal{.reason = refusal_reason::stopped, .key = key};
  }

  /// Calls `try_once`, which may throw, until it returns no refusal. Returns nothing on success.
  template <class Try>
  std::optional<refusal> go_on(const lock_key& key, const Try& try_once) {
    for (;;) {
      std::optional<refusal> refused;
      std::exception_ptr fault;
      try {
        refused = try_once();
      } catch (const error&) {
        fault = std::current_exception();
      }
      if (fault == nullptr && !refused) return std::nullopt;
      auto over = refused ? pause(*std::move(refused)) : pause_after(fault, key);
      if (over) return over;
    }
  }

  /// To be called when the last try has resolved the doubt.
  void forget_doubt() noexcept { doubt_ = nullptr; }

 private:
  static retry_policy until_stopped(retry_policy wait, std::stop_token stop) {
    wait.stop = std::move(stop);
    return wait;
  }

  /// Waits while another attempt tries on behalf of all waiters. False if no try is left.
  bool await_retry(outage& away) {
    while (!away.may_try(leases_.now())) {
      const auto now = leases_.now();
      const auto left = pauses_.remaining();
      if (policy_.stop.stop_requested() || left == boot_clock::duration::zero()) return false;
      const auto next_try = away.next_attempt();
      leases_.time().sleep_until(left ? std::min(next_try, now + *left) : next_try, policy_.stop);
    }
    return true;
  }

  lease_keeper& leases_;
  either_stop stop_;
  const retry_policy policy_;
  backoff pauses_;
  owner_id owner_ = make_owner_id();
  std::exception_ptr doubt_ = nullptr;
  const retry_pauses* whole_ = nullptr;
};

struct set_request {
  /// Of distinct keys, in order of preference.
  std::vector<lease_request> leases = {};
  /// At most this many of the keys; without a value, all of them or none.
  std::optional<std::size_t> limit = std::nullopt;
};

struct set_attempt_end {
  lease_states granted = {};
  std::optional<refusal> refused = std::nullopt;
};

/// Tries at once, and again as `pauses` permits. Throws `error`. With `limit`, a refusal means
/// that no key was free; it names the first key.
set_attempt_end acquire(lease_keeper& leases, set_request wanted, retry_pauses& pauses);

}  // namespace rowlock::detail

#endif
