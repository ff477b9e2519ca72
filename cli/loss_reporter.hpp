// Messages about faults of a store, and about a lost key and its reason.
#ifndef ROWLOCK_CLI_LOSS_REPORTER_HPP
#define ROWLOCK_CLI_LOSS_REPORTER_HPP

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/observer.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock::cli {

inline constexpr std::string_view no_progress =
    "the command showed no progress within the time of --progress-within";

/// Prints each fault once until the next grant or renewal, and whether it is retried. Prints
/// nothing for a renewal whose lease is over, nor for an acquisition whose fault the caller gets.
/// Releases get one line. At most 20 lines until the next grant or renewal: a server that starts
/// may return different errors.
///
/// Thread-safety: one thread at a time, as that of an observer is.
class fault_reporter {
 public:
  /// Once `stop` is requested, no try follows for a new grant. Set it before the `lock_table` is
  /// made.
  void stop_with(std::stop_token stop) { stop_ = std::move(stop); }

  void say_once(const fault_event& event);
  void acquired() noexcept;
  void renewed() noexcept { said_.clear(); }
  /// The lease was released or lost.
  void ended() noexcept { holds_ = false; }

  [[nodiscard]] bool is_tried_again(const fault_event& event) const;

 private:
  [[nodiscard]] std::string what_follows(const fault_event& event) const;

  std::stop_token stop_;
  std::set<std::string> said_;  // since the last grant or renewal; an empty text for a release
  bool holds_ = false;
};

/// Forwards every call. For a lock_table with one lease. `with_lock` reports whether the key was
/// kept, but not whether a deferred release succeeded in the end. No event reports that a renewal
/// found the row locked.
///
/// Thread-safety: all members may be called from any thread.
class release_witness final : public passing_store {
 public:
  enum class release_seen {
    none,  ///< No release was sent: the lease was lost before.
    lost,  ///< The row no longer had this grant.
    released,
    uncertain,  ///< No answer, or only `busy`.
  };

  using passing_store::passing_store;

  [[nodiscard]] release_seen seen() const noexcept { return seen_; }

  /// Since when every renewal has found the row locked by another transaction; none: the last one
  /// did not.
  [[nodiscard]] std::optional<boot_clock::time_point> locked_since() const {
    const boot_clock::time_point since = locked_since_;
    return since == never ? std::nullopt : std::optional{since};
  }

 protected:
  std::vector<change_answer> do_renew(std::span<const renew_request> requests) override {
    std::vector<change_answer> answers;
    try {
      answers = passing_store::do_renew(requests);
    } catch (...) {
      locked_since_ = never;
      throw;
    }
    if (answers.front() != change_answer::busy) {
      locked_since_ = never;
    } else if (locked_since_.load() == never) {
      locked_since_ = boot_clock::now();
    }
    return answers;
  }

  std::vector<change_answer> do_release(std::span<const release_request> requests) override {
    // A retry: the row is most likely gone because the first, unanswered release was made.
    const bool is_first = seen_.exchange(release_seen::uncertain) == release_seen::none;
    auto answers = passing_store::do_release(requests);
    if (answers.front() == change_answer::done) seen_ = release_seen::released;
    if (answers.front() == change_answer::lost) {
      seen_ = is_first ? release_seen::lost : release_seen::released;
    }
    return answers;
  }

 private:
  static constexpr auto never = boot_clock::time_point::max();

  std::atomic<boot_clock::time_point> locked_since_{never};
  std::atomic<release_seen> seen_{release_seen::none};
};

/// For a lock_table with one lease. If the row was taken away, it is read once more for the present
/// holder. Prints faults as `fault_reporter` does, except a fault that ends the wait: the caller
/// gets that.
///
/// Thread-safety: all members may be called from any thread.
class loss_reporter final : public observer {
 public:
  /// `renew_for` is how long the lease is renewed. With `waits`, faults that pass do not end the
  /// wait, but `stop` does. All apply to the attempt and the lease of the `lock_table`.
  loss_reporter(release_witness& rows, std::optional<std::chrono::milliseconds> renew_for,
                bool waits, std::stop_token stop)
      : rows_{rows}, renew_for_{renew_for}, waits_{waits} {
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
  [[nodiscard]] std::string why(const lost_event& event);
  [[nodiscard]] std::string why_taken(const lock_key& key);
  [[nodiscard]] std::string why_run_out(std::chrono::microseconds held) const;

  release_witness& rows_;
  const std::optional<std::chrono::milliseconds> renew_for_;
  // Used by the observer's thread only.
  boot_clock::time_point renewed_at_;
  std::string last_fault_;  // of a renewal, since then
  bool waits_;
  fault_reporter faults_;

  detail::checked_mutex mutex_;
  std::condition_variable was_said_;
  bool is_said_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::string former_force_reason_ ROWLOCK_GUARDED_BY(mutex_);
};

}  // namespace rowlock::cli

#endif
