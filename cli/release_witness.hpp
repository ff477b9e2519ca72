// A store that records the results of the renewals and the release of a lease.
#ifndef ROWLOCK_CLI_RELEASE_WITNESS_HPP
#define ROWLOCK_CLI_RELEASE_WITNESS_HPP

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "rowlock/clock.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/passing_store.hpp"

namespace rowlock::cli {

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

}  // namespace rowlock::cli

#endif
