// What a lease and those who keep it share.
#ifndef ROWLOCK_LEASE_LEASE_STATE_HPP
#define ROWLOCK_LEASE_LEASE_STATE_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

enum class lease_phase {
  held,
  released,  ///< By its holder, whether or not the database knows already.
  lost,
};

/// What one attempt asks for.
struct lease_request {
  acquire_request request;
  /// How long it is to be renewed.
  std::optional<std::chrono::milliseconds> at_most = std::nullopt;
  /// How much of the request's ttl the holder does not count on.
  std::chrono::milliseconds lock_delay{};
  /// How long the key is to stay taken, however soon it is released.
  std::chrono::milliseconds hold_at_least{};
  /// Of a set: requested when one of it is lost.
  std::stop_source one_lost{std::nostopstate};
};

/// How the work under a lease ended.
struct work_result {
  bool failed = false;
  /// It is to be remembered as done.
  std::optional<std::chrono::microseconds> done_for = std::nullopt;
};

/// How much longer a key is to stay taken.
inline std::chrono::microseconds rest_of_hold(boot_clock::time_point hold_until,
                                              boot_clock::time_point now) {
  const auto rest = std::chrono::ceil<std::chrono::microseconds>(hold_until - now);
  return std::max(rest, std::chrono::microseconds::zero());
}

/// One grant. It leaves `held` once and for all.
struct lease_state {
  lease_state(const lease_request& granted, rowlock::version granted_token,
              boot_clock::time_point asked)
      : key{granted.request.key},
        owner{granted.request.owner},
        ttl{granted.request.ttl - granted.lock_delay},
        lock_delay{granted.lock_delay},
        token{granted_token},
        asked_at{asked},
        renew_until{granted.at_most ? asked + *granted.at_most : boot_clock::time_point::max()},
        one_lost{granted.one_lost} {}

  void emit_lost() {
    lost.request_stop();
    if (one_lost.stop_possible()) one_lost.request_stop();
  }

  /// What the database counts from a grant or a renewal.
  [[nodiscard]] std::chrono::microseconds stored_ttl() const { return ttl + lock_delay; }

  [[nodiscard]] release_request to_release(boot_clock::time_point now, work_result how = {}) const {
    return {.key = key,
            .owner = owner,
            .version = token,
            .failed = how.failed,
            .stay_closed = rest_of_hold(hold_until, now),
            .done_for = how.done_for};
  }

  const lock_key key;
  const owner_id owner;
  const std::chrono::microseconds ttl;
  const std::chrono::microseconds lock_delay;
  const rowlock::version token;
  const boot_clock::time_point asked_at;
  const boot_clock::time_point renew_until;
  /// Set before anybody but the keeper knows the lease.
  boot_clock::time_point hold_until;
  /// How many holders of this process in a row have had the key before, without a release. Set as
  /// above.
  unsigned handoffs = 0;

  std::atomic<lease_phase> phase{lease_phase::held};
  std::atomic<boot_clock::time_point> valid_until{};
  std::stop_source lost;
  std::stop_source one_lost;

  /// The version that a transaction gave the row which is to unset it, and may be open, committed,
  /// or rolled back; 0 if there is none.
  std::atomic<std::int64_t> release_transaction{0};
  /// It is known to have committed, and nobody has asked for the release yet.
  std::atomic<bool> is_unset{false};

  boot_clock::time_point renew_at;  // guarded by the mutex of the lease_registry
};

using lease_states = std::vector<std::shared_ptr<lease_state>>;

/// For the executor of losses: requests a stop on `lost` of each.
inline auto emitting_lost(lease_states lost) {
  return [lost = std::move(lost)] {
    for (const auto& lease : lost) lease->emit_lost();
  };
}

}  // namespace rowlock::detail

#endif
