// Background renewals.
#ifndef ROWLOCK_LEASE_RENEWER_HPP
#define ROWLOCK_LEASE_RENEWER_HPP

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/serial_executor.hpp"
#include "lease/deferred_releases.hpp"
#include "lease/event_dispatcher.hpp"
#include "lease/lease_registry.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// Its thread makes the deferred releases, too. The registry computes when a lease is due.
///
/// Thread-safety: `run` belongs to one thread, which may hang in the store; all other members may
/// be called from any thread.
class renewer {
 public:
  renewer(store& target, lease_registry& registry, deferred_releases& releases,
          serial_executor& losses, event_dispatcher& events, std::shared_ptr<time_source> time);

  /// Runs until the registry is closed and all deferred releases are made, or their time is over.
  void run();

  /// Renews a lease that is held, with this ttl if it is above its own. Waits for a renewal under
  /// way. Throws what the store throws. Called by any thread.
  change_answer extend(const std::shared_ptr<lease_state>& lease, std::chrono::microseconds ttl);

  /// Ends the leases whose rows no longer belong to them. One round trip. A fault is reported: the
  /// next renewals find the losses.
  void read_for_losses(const lease_states& doubted) noexcept;

 private:
  void check_settings() noexcept;
  /// Finds the leases whose holders were asked to yield. One round trip; none if no holder listens.
  void read_asks();
  void renew(const lease_states& due);
  /// Calls `work` with the rows of the leases. A fault is reported.
  template <class Work>
  void read(const lease_states& leases, const Work& work) noexcept;
  /// In one call. Throws what the store throws.
  void renew_at_once(std::span<const std::shared_ptr<lease_state>> wanted);
  /// The same for leases that were held at `sent_at`, each with its own ttl or a longer one.
  std::vector<change_answer> send(const lease_states& due, boot_clock::time_point sent_at,
                                  std::chrono::microseconds shortest_ttl = {});
  [[nodiscard]] static bool is_held(const lease_state& lease, boot_clock::time_point now);
  void renewed(lease_state& lease, boot_clock::time_point sent_at, std::chrono::microseconds ttl);
  void end_as_read(const lease_states& doubted, std::span<const std::optional<row_state>> seen);
  void end_lost(lease_states gone);
  /// Ends a lease that a committed transaction released.
  void unset_by_transaction(lease_state& lease);

  store& target_;
  lease_registry& registry_;
  deferred_releases& releases_;
  serial_executor& losses_;
  event_dispatcher& events_;
  const std::shared_ptr<time_source> time_;
  bool knows_settings_ = false;  // used by the thread of `run` only
};

}  // namespace rowlock::detail

#endif
