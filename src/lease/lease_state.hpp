// One grant: its key, owner, version, deadline and phase; whether a row still belongs to it.
#ifndef ROWLOCK_LEASE_LEASE_STATE_HPP
#define ROWLOCK_LEASE_LEASE_STATE_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "lease/risk.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

enum class lease_phase {
  held,
  released,  ///< By its holder; the row may not be released yet.
  passed_on,
  lost,
};

/// The request of one attempt.
struct lease_request {
  acquire_request request;
  /// The lease is renewed for this long after the request.
  std::optional<std::chrono::milliseconds> renew_for = std::nullopt;
  /// It is renewed while there was progress within this time.
  std::optional<std::chrono::milliseconds> progress_within = std::nullopt;
  /// The part of the request's ttl that the holder does not use.
  std::chrono::milliseconds lock_delay{};
  /// The key stays taken for at least this long after the grant, even if released earlier.
  std::chrono::milliseconds hold_at_least{};
  bool durable_release = false;
  /// While it waits, holders are asked to yield.
  bool asks = false;
  /// Of a set: a stop is requested when any of its leases is lost.
  std::stop_source one_lost{std::nostopstate};
};

/// How the work under a lease ended.
struct work_result {
  bool failed = false;
  /// The row remembers the work as done for this long.
  std::optional<std::chrono::microseconds> done_for = std::nullopt;
};

/// How much longer a key stays taken.
inline std::chrono::microseconds rest_of_hold(boot_clock::time_point hold_until,
                                              boot_clock::time_point now) {
  const auto rest = std::chrono::ceil<std::chrono::microseconds>(hold_until - now);
  return std::max(rest, std::chrono::microseconds::zero());
}

/// One grant. Its phase never returns to `held`.
struct lease_state {
  lease_state(lease_request granted, rowlock::version granted_token,
              boot_clock::time_point requested)
      : key{std::move(granted.request.key)},
        owner{std::move(granted.request.owner)},
        ttl{granted.request.ttl - granted.lock_delay},
        lock_delay{granted.lock_delay},
        token{granted_token},
        requested_at{requested},
        renew_until{granted.renew_for ? requested + *granted.renew_for
                                      : boot_clock::time_point::max()},
        progress_within{granted.progress_within},
        progress_at{requested},
        correlation_id{std::move(granted.request.correlation_id)},
        durable_release{granted.durable_release},
        one_lost{std::move(granted.one_lost)} {}

  void emit_lost() {
    lost.request_stop();
    if (one_lost.stop_possible()) one_lost.request_stop();
  }

  /// The ttl in the database, from a grant or a renewal.
  [[nodiscard]] std::chrono::microseconds stored_ttl() const { return ttl.load() + lock_delay; }

  [[nodiscard]] release_request to_release(boot_clock::time_point now, work_result how = {}) const {
    return {.key = key,
            .owner = owner,
            .version = token,
            .failed = how.failed,
            .stay_closed = rest_of_hold(hold_until, now),
            .done_for = how.done_for,
            .durable = durable_release};
  }

  [[nodiscard]] bool is_stuck(boot_clock::time_point now) const {
    return progress_within && now - progress_at.load() >= *progress_within;
  }

  [[nodiscard]] acquired_event acquired(std::chrono::microseconds took,
                                        std::chrono::microseconds waited) const {
    return {key, token, took, waited, correlation_id};
  }

  const lock_key key;
  const owner_id owner;
  /// Only rises, so that no renewal shortens the lease in the database.
  std::atomic<std::chrono::microseconds> ttl;
  const std::chrono::microseconds lock_delay;
  const rowlock::version token;
  const boot_clock::time_point requested_at;
  const boot_clock::time_point renew_until;
  const std::optional<std::chrono::milliseconds> progress_within;
  std::atomic<boot_clock::time_point> progress_at;
  const std::string correlation_id;
  const bool durable_release;
  /// Ends the hold of a grant that no caller will see, while `close` may read it.
  void give_up_hold() noexcept { hold_until = boot_clock::time_point{}; }

  std::atomic<boot_clock::time_point> hold_until{};
  /// Number of handoffs of the key within this process since its last release. Set before other
  /// threads can reach the lease.
  unsigned handoffs = 0;

  std::atomic<lease_phase> phase{lease_phase::held};
  std::atomic<boot_clock::time_point> valid_until{};
  std::stop_source lost;
  std::stop_source one_lost;
  std::stop_source wanted;

  /// Version that the releasing transaction gave the row; 0 if there is no such transaction. It may
  /// be open, committed or rolled back.
  std::atomic<std::int64_t> release_transaction{0};
  /// That transaction has committed, and the holder has not called `release` yet.
  std::atomic<bool> is_unset{false};

  // The lease_registry's, under its mutex:
  boot_clock::time_point renew_at;
  bool is_being_renewed = false;
  bool was_stuck = false;  // when it was last due
  bool listens_to_asks = false;
  bool is_ask_read_due = false;
  std::optional<ask_mark> asked;
  std::vector<std::shared_ptr<risk>> risks;
};

using lease_states = std::vector<std::shared_ptr<lease_state>>;

/// A task for the executor of losses.
inline auto emitting_lost(lease_states lost) {
  return [lost = std::move(lost)] {
    for (const auto& lease : lost) lease->emit_lost();
  };
}

enum class row_verdict {
  ours,
  unset_by_transaction,  ///< A transaction of the holder released the row and committed.
  lost,
};

/// The releasing transaction is known to have committed in two cases. Either the row is as that
/// transaction left it, because every later grant raises the version; or the row remembers work
/// done under this lease. Otherwise the transaction may have rolled back and another holder had the
/// key since.
inline row_verdict judge(const std::optional<row_state>& row, const lease_state& lease) {
  if (!row) return row_verdict::lost;
  if (row->owned && row->version == lease.token) return row_verdict::ours;
  // Versions only rise, so the read came from a lagging replica and proves nothing.
  if (row->version < lease.token) return row_verdict::ours;
  const version unset_as{lease.release_transaction};
  if (unset_as.number == 0) return row_verdict::lost;
  const bool is_as_it_was_left = !row->owned && row->version == unset_as;
  const bool is_done = row->done && row->done->by == lease.token;
  return is_as_it_was_left || is_done ? row_verdict::unset_by_transaction : row_verdict::lost;
}

}  // namespace rowlock::detail

#endif
