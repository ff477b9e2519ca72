// Releases that are retried in the background.
#ifndef ROWLOCK_LEASE_DEFERRED_RELEASES_HPP
#define ROWLOCK_LEASE_DEFERRED_RELEASES_HPP

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "batch/statement_batcher.hpp"
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "lease/lease_state.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/port/requests.hpp"

namespace rowlock::detail {

/// A release that is retried until the lease runs out.
struct deferred_release {
  deferred_release(const lease_state& ended, boot_clock::time_point now, work_result how = {},
                   std::optional<boot_clock::duration> was_held = std::nullopt)
      : request{ended.to_release(now, how)},
        hold_until{ended.hold_until},
        runs_out_at{now + ended.stored_ttl()},
        held_for{was_held},
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
  std::optional<boot_clock::duration> held_for;
  std::string correlation_id;
  /// An attempt whose outcome is unknown; it is sent again to learn whether it was granted.
  std::optional<acquire_request> in_doubt;
  version handed_by;

 private:
  deferred_release(const acquire_request& ended, version granted, boot_clock::time_point now)
      : request{.key = ended.key, .owner = ended.owner, .version = granted},
        runs_out_at{now + ended.ttl} {}
};

/// Thread-safety: `make` belongs to one thread, which may hang in the store; all other members may
/// be called from any thread.
class deferred_releases {
 public:
  /// `released` is called for each release that succeeds here.
  deferred_releases(statement_batcher& batcher, lease_registry& registry, event_dispatcher& events,
                    std::shared_ptr<time_source> time,
                    std::function<void(const lock_key&)> released);

  /// A release that was just tried waits for a pause before the next try.
  enum class tried { never, just_now };
  void add(std::vector<deferred_release> releases, tried before);
  void add(deferred_release release, tried before);

  /// When the next try is due; `max` if none is.
  [[nodiscard]] boot_clock::time_point next_at();
  /// Tries all. Returns true if none is left.
  bool make(const std::function<bool()>& give_up);

  /// None begins after `end`; the earliest `end` counts. Uses the real clock, because a simulated
  /// one no longer advances by then.
  void close_by(boot_clock::time_point end);
  [[nodiscard]] bool is_over();

 private:
  /// Sends attempts in doubt again. Granted ones stay in `releases`; those that may still be
  /// granted later move to `still_in_doubt`.
  void resolve_doubts(std::vector<deferred_release>& releases,
                      std::vector<deferred_release>& still_in_doubt,
                      const std::function<bool()>& give_up);
  /// In one call; releases of busy rows are moved to `busy`. Throws what the store throws.
  void release_at_once(std::span<deferred_release> made, std::vector<deferred_release>& busy);
  void emit_released(const deferred_release& made, boot_clock::time_point sent_at);

  statement_batcher& batcher_;
  lease_registry& registry_;
  event_dispatcher& events_;
  const std::shared_ptr<time_source> time_;
  const std::function<void(const lock_key&)> released_;

  checked_mutex mutex_;
  std::vector<deferred_release> deferred_ ROWLOCK_GUARDED_BY(mutex_);
  boot_clock::time_point next_at_ ROWLOCK_GUARDED_BY(mutex_);
  boot_clock::duration pause_ ROWLOCK_GUARDED_BY(mutex_){};
  boot_clock::time_point over_at_ ROWLOCK_GUARDED_BY(mutex_) = boot_clock::time_point::max();
};

}  // namespace rowlock::detail

#endif
