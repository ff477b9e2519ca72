// Talks to the store in the background: renewals, and releases that were put off.
#ifndef ROWLOCK_LEASE_RENEWER_HPP
#define ROWLOCK_LEASE_RENEWER_HPP

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/serial_executor.hpp"
#include "batch/statement_batcher.hpp"
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// A release that is tried again until the lease runs out by itself.
struct deferred_release {
  deferred_release(const lease_state& ended, boot_clock::time_point now, work_result how = {},
                   std::optional<boot_clock::duration> was_held = std::nullopt)
      : request{ended.to_release(now, how)},
        hold_until{ended.hold_until},
        runs_out_at{now + ended.stored_ttl()},
        held{was_held} {}

  /// Of a grant that no caller takes.
  static deferred_release of_unwanted(const acquire_request& ended, version granted,
                                      boot_clock::time_point now) {
    return deferred_release{ended, granted, now};
  }
  /// Of an attempt that is over. A statement whose answer got lost may grant it the row of the
  /// lease with version `handed_by` after all.
  static deferred_release of_doubt(const acquire_request& ended, version handed_by,
                                   boot_clock::time_point now) {
    deferred_release release{ended, {}, now};
    release.in_doubt = ended;
    release.handed_by = handed_by;
    return release;
  }

  /// What is asked at `now`.
  [[nodiscard]] release_request request_at(boot_clock::time_point now) const {
    auto asked = request;
    asked.stay_closed = rest_of_hold(hold_until, now);
    return asked;
  }

  release_request request;
  boot_clock::time_point hold_until;
  boot_clock::time_point runs_out_at;
  /// How long the lease was held that its holder gave back; none: no observer is told.
  std::optional<boot_clock::duration> held;
  /// To be asked for once more, as the same attempt: it is not known whether it is granted.
  std::optional<acquire_request> in_doubt;
  version handed_by;

 private:
  deferred_release(const acquire_request& ended, version granted, boot_clock::time_point now)
      : request{.key = ended.key, .owner = ended.owner, .version = granted},
        runs_out_at{now + ended.ttl} {}
};

/// Thread-safety: `run` belongs to one thread, which may hang in the store; `defer` and
/// `look_for_losses` may be called from any.
class renewer {
 public:
  /// `released` is told of each release that was made here.
  renewer(statement_batcher& batcher, lease_registry& registry, serial_executor& losses,
          event_dispatcher& events, std::shared_ptr<time_source> time,
          std::function<void(const lock_key&)> released);

  /// Until the book is closed and the releases that still wait are made, as far as they are within
  /// the time of `close_by`, which comes before.
  void run();

  /// No release begins any more after `end`; the first call counts. On the real clock: nobody moves
  /// another one any more.
  void close_by(boot_clock::time_point end);

  /// Whether a release was tried before, and should not be tried again at once.
  enum class tried { never, just_now };
  void defer(std::vector<deferred_release> releases, tried before);

  /// Ends those of the leases whose rows are no longer theirs. Throws what the store throws.
  void read_for_losses(const lease_states& doubted);

 private:
  void look_at_settings() noexcept;
  void renew(const lease_states& due);
  /// In one call. Throws what the store throws.
  void renew_at_once(std::span<const std::shared_ptr<lease_state>> wanted);
  void renewed(lease_state& lease, boot_clock::time_point asked);
  void end_lost(lease_states gone);
  /// Of a lease that rode in it.
  void unset_by_transaction(lease_state& lease);
  void emit_released(const deferred_release& made, boot_clock::time_point asked);
  /// Asks for attempts in doubt. Those that are granted are to be released; those that may be later
  /// are added to `still_in_doubt`.
  void resolve_doubts(std::vector<deferred_release>& releases,
                      std::vector<deferred_release>& still_in_doubt,
                      const std::function<bool()>& give_up);
  /// In one call; those whose rows are busy are added to `busy`. Throws what the store throws.
  void release_at_once(std::span<deferred_release> made, std::vector<deferred_release>& busy);
  /// True when none is left.
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
  bool knows_settings_ = false;  // of the one thread

  std::mutex mutex_;
  std::vector<deferred_release> deferred_;                          // guarded by mutex_
  boot_clock::time_point next_release_;                             // guarded by mutex_
  boot_clock::duration pause_{};                                    // guarded by mutex_
  boot_clock::time_point over_at_ = boot_clock::time_point::max();  // guarded by mutex_
};

}  // namespace rowlock::detail

#endif
