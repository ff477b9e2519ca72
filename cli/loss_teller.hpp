// Says why a key was lost.
#ifndef ROWLOCK_CLI_LOSS_TELLER_HPP
#define ROWLOCK_CLI_LOSS_TELLER_HPP

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>

#include "rowlock/boot_clock.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/store.hpp"

namespace rowlock::cli {

/// For a lock_table with one lease. Where the row was taken away it is read once more, for who has
/// it now.
///
/// Thread-safety: all members may be called from any thread.
class loss_teller final : public observer {
 public:
  /// `at_most` is how long the lease is renewed.
  loss_teller(store& rows, std::optional<std::chrono::milliseconds> at_most)
      : rows_{rows}, at_most_{at_most} {}

  /// Returns when the reason of a loss has been said, or after two seconds: a database that is
  /// silent may keep it.
  void await_reason();

  void acquired(const acquired_event& event) override;
  void renewed(const renewed_event& event) override;
  void fault(const fault_event& event) override;
  void lost(const lost_event& event) override;

 private:
  [[nodiscard]] std::string why_taken(const lock_key& key) const;
  [[nodiscard]] std::string why_run_out(std::chrono::microseconds held) const;

  store& rows_;
  const std::optional<std::chrono::milliseconds> at_most_;
  // Of the one thread that tells.
  boot_clock::time_point renewed_at_;
  std::string last_fault_;  // since then

  std::mutex mutex_;
  std::condition_variable was_said_;
  bool is_said_ = false;  // guarded by mutex_
};

}  // namespace rowlock::cli

#endif
