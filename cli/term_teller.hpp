// What a campaign is told in the background, as far as people should know of it.
#ifndef ROWLOCK_CLI_TERM_TELLER_HPP
#define ROWLOCK_CLI_TERM_TELLER_HPP

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "rowlock/lease.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/version.hpp"

namespace rowlock::cli {

/// Says each fault once, however often it comes again until there is a term, and a loss that came
/// too late for the command to be told: it had ended when the release found that the key was gone.
///
/// Thread-safety: all members may be called from any thread.
class term_teller final : public observer {
 public:
  /// The command of the term has ended; `was_said`: its loss has been said already.
  void ended(const lease& term, bool was_said);
  /// Whether the term that ended last was lost. Final once the lock_table is gone.
  [[nodiscard]] bool was_lost() const;

  /// Once `stop` is requested, nothing is tried again for a new term. To be set before the
  /// `lock_table` is made.
  void stop_with(std::stop_token stop) { stop_ = std::move(stop); }

  void acquired(const acquired_event& event) override;
  void lost(const lost_event& event) override;
  void fault(const fault_event& event) override;

 private:
  [[nodiscard]] std::string what_follows(const fault_event& event) const;

  std::stop_token stop_;
  mutable std::mutex mutex_;
  std::string last_fault_;        // told by one thread
  std::optional<version> ended_;  // guarded by mutex_, as all that follows
  std::optional<version> lost_;
  bool was_said_ = false;
};

}  // namespace rowlock::cli

#endif
