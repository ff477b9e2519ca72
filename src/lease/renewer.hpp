// Background renewals and deferred releases.
#ifndef ROWLOCK_LEASE_RENEWER_HPP
#define ROWLOCK_LEASE_RENEWER_HPP

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/serial_executor.hpp"
#include "batch/statement_batcher.hpp"
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// A release that is retried until the lease runs out.
struct deferred_release {
  deferred_release(const lease_state& ended, boot_clock::time_point now, work_result how = {},
                   std::optional<boot_clock::duration> was_held = std::nullopt)
      : request{ended.to_release(now, how)},
        hold_until{ended.hold_until},
        runs_out_at{now + ended.stored_ttl()},
        held{was_held},
        correlation_id{ended.correlation_id} {}

  /// For a grant that no caller takes.
  static deferred_release of_unwanted(const acquire_request& ended, version granted,
                                      boot_clock::time_point now) {
    return deferred_release{ended, granted, now};
  }
  /// For an attempt that is over. A statement whose answer got lost may still grant it the row of
  /// the lease with version `handed_by`.
  static deferred_release of_doubt(const acquire_request& ended, version handed_by,
                                   boot_clock::time_point now) {
    deferred_release release{ended, {}, now};
    release.in_doubt = ended;
    release.handed_by = handed_by;
    return release;
  }

  /// The request as of `now`: the rest of the hold shrinks with time.
  [[nodiscard]] release_request request_at(boot_clock::time_point now) const {
    auto current = request;
    current.stay_closed = rest_of_hold(hold_until, now);
    current.never_waits = true;  // the thread of the renewals sends it
    return current;
  }

  release_request request;
  boot_clock::time_point hold_until;
  boot_clock::time_point runs_out_at;
  /// How long the released lease was held. Without it, the release is not reported to the observer.
  std::optional<boot_clock::duration> held;
  std::string correlation_id;
  /// An attempt whose outcome is unknown; it is sent again to learn whether it was granted.
  std::optional<acquire_request> in_doubt;
  version handed_by;

 private:
  deferred_release(const acquire_request& ended, version granted, boot_clock::time_point now)
      : request{.key = ended.key, .owner = ended.owner, .version = granted},
        runs_out_at{now + ended.ttl} {}
};

/// Thread-safety: `run` belongs to one thread, which may hang in the store; all other members may
/// be called from any thread.
class renewer {
 public:
  /// `released` is called for each release that succeeds here.
  renewer(statement_batcher& batcher, lease_registry& registry, serial_executor& losses,
          event_dispatcher& events, std::shared_ptr<time_source> time,
          std::function<void(const lock_key&)> released);

  /// Runs until the registry is closed and all deferred releases are made, or the time of
  /// `close_by` has passed. `close_by` must be called before the registry closes.
  void run();

  /// No release begins after `end`; the earliest `end` counts. Uses the real clock, because a
  /// simulated one no longer advances by then.
  void close_by(boot_clock::time_point end);

  /// A release that was just tried waits for a pause before the next try.
  enum class tried { never, just_now };
  void defer(std::vector<deferred_release> releases, tried before);

  /// Ends the leases whose rows no longer belong to them. Throws what the store throws.
  void read_for_losses(const lease_states& doubted);

 private:
  void check_settings() noexcept;
  void renew(const lease_states& due);
  /// In one call. Throws what the store throws.
  void renew_at_once(std::span<const std::shared_ptr<lease_state>> wanted);
  void renewed(lease_state& lease, boot_clock::time_point sent_at);
  void end_lost(lease_states gone);
  /// Ends a lease that a committed transaction released.
  void unset_by_transaction(lease_state& lease);
  void emit_released(const deferred_release& made, boot_clock::time_point sent_at);
  /// Sends attempts in doubt again. Granted ones stay in `releases`; those that may still be
  /// granted later move to `still_in_doubt`.
  void resolve_doubts(std::vector<deferred_release>& releases,
                      std::vector<deferred_release>& still_in_doubt,
                      const std::function<bool()>& give_up);
  /// In one call; releases of busy rows are moved to `busy`. Throws what the store throws.
  void release_at_once(std::span<deferred_release> made, std::vector<deferred_release>& busy);
  /// Returns true if no release is left.
  bool release_deferred(const std::function<bool()>& give_up);
  [[nodiscard]] boot_clock::time_point next_release();
  [[nodiscard]] bool is_over();

  statement_batcher& batcher_;
  store& target_;
  lease_registry& registry_;
  serial_executor& losses_;
  event_dispatcher& events_;
  const std::shared_ptr<time_source> time_;
  const std::function<void(const lock_key&)> released_;
  bool knows_settings_ = false;  // used by the thread of `run` only

  checked_mutex mutex_;
  std::vector<deferred_release> deferred_ ROWLOCK_GUARDED_BY(mutex_);
  boot_clock::time_point next_release_ ROWLOCK_GUARDED_BY(mutex_);
  boot_clock::duration pause_ ROWLOCK_GUARDED_BY(mutex_){};
  boot_clock::time_point over_at_ ROWLOCK_GUARDED_BY(mutex_) = boot_clock::time_point::max();
};

}  // namespace rowlock::detail

#endif
