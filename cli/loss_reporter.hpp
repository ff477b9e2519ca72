// Messages about a lost key, its reason, and faults that may cost it.
#ifndef ROWLOCK_CLI_LOSS_REPORTER_HPP
#define ROWLOCK_CLI_LOSS_REPORTER_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "cli/fault_reporter.hpp"
#include "cli/release_witness.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/observer.hpp"

namespace rowlock::cli {

/// For a lock_table with one lease. If the row was taken away, it is read once more for the present
/// holder. Prints faults as `fault_reporter` does, except a fault that ends the wait: the caller
/// gets that.
///
/// Thread-safety: all members may be called from any thread.
class loss_reporter final : public observer {
 public:
  /// `at_most` is how long the lease is renewed. With `waits`, faults that pass do not end the
  /// wait, but `stop` does. All apply to the attempt and the lease of the `lock_table`.
  loss_reporter(release_witness& rows, std::optional<std::chrono::milliseconds> at_most, bool waits,
                std::stop_token stop)
      : rows_{rows}, at_most_{at_most}, waits_{waits} {
    faults_.stop_with(std::move(stop));
  }

  /// Reads why the row was last released by force before this grant, so that the loss of `held` is
  /// not reported with that reason. If the read fails, it may be. One round trip; throws nothing.
  void look_back(const lease& held) noexcept;

  /// Returns when the reason of a loss has been printed. Waits at most two seconds, since a silent
  /// database may delay the reason.
  void await_reason();

  void acquired(const acquired_event& event) override;
  void waited(const waited_event& /*event*/) override { waits_ = false; }
  void renewed(const renewed_event& event) override;
  void fault(const fault_event& event) override;
  void lost(const lost_event& event) override;
  void released(const released_event& /*event*/) override { faults_.ended(); }

 private:
  [[nodiscard]] std::string why_taken(const lock_key& key);
  [[nodiscard]] std::string why_run_out(std::chrono::microseconds held) const;

  release_witness& rows_;
  const std::optional<std::chrono::milliseconds> at_most_;
  // Used by the observer's thread only.
  boot_clock::time_point renewed_at_;
  std::string last_fault_;  // of a renewal, since then
  bool waits_;
  fault_reporter faults_;

  std::mutex mutex_;
  std::condition_variable was_said_;
  // All below are guarded by mutex_.
  bool is_said_ = false;
  std::string former_force_reason_;
};

}  // namespace rowlock::cli

#endif
