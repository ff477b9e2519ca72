// Background renewals.
#ifndef ROWLOCK_LEASE_RENEWER_HPP
#define ROWLOCK_LEASE_RENEWER_HPP

#include <memory>
#include <span>

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

  /// Ends the leases whose rows no longer belong to them. One round trip. Throws what the store
  /// throws.
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
