// Messages to the user about the terms of a campaign.
#ifndef ROWLOCK_CLI_TERM_REPORTER_HPP
#define ROWLOCK_CLI_TERM_REPORTER_HPP

#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "cli/fault_reporter.hpp"
#include "rowlock/lease.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/observer.hpp"

namespace rowlock::cli {

/// Prints faults as `fault_reporter` does, and losses that came too late for the command: it had
/// ended when the release found that the key was gone.
///
/// Thread-safety: all members may be called from any thread.
class term_reporter final : public observer {
 public:
  /// The command of the term has ended; `was_said`: its loss has been printed already.
  void ended(const lease& term, bool was_said);
  /// Whether the term that ended last was lost. Final once the lock_table is gone.
  [[nodiscard]] bool was_lost() const;

  /// See `fault_reporter`.
  void stop_with(std::stop_token stop) { faults_.stop_with(std::move(stop)); }

  void acquired(const acquired_event& /*event*/) override { faults_.acquired(); }
  void renewed(const renewed_event& /*event*/) override { faults_.renewed(); }
  void lost(const lost_event& event) override;
  void released(const released_event& /*event*/) override { faults_.ended(); }
  void fault(const fault_event& event) override { faults_.say_once(event); }

 private:
  fault_reporter faults_;  // used by the observer's thread only
  mutable std::mutex mutex_;
  std::optional<version> ended_;  // guarded by mutex_, as all that follows
  std::optional<version> lost_;
  bool was_said_ = false;
};

}  // namespace rowlock::cli

#endif
