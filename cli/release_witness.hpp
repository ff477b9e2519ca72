// A store that remembers how the release of a lease went.
#ifndef ROWLOCK_CLI_RELEASE_WITNESS_HPP
#define ROWLOCK_CLI_RELEASE_WITNESS_HPP

#include <atomic>

#include "rowlock/error.hpp"
#include "rowlock/passing_store.hpp"

namespace rowlock::cli {

/// Hands every call on. For a lock_table with one lease: `with_lock` tells whether the key was
/// kept, but not whether a release that was put off succeeded in the end.
///
/// Thread-safety: all members may be called from any thread.
class release_witness final : public passing_store {
 public:
  enum class release_seen {
    none,  ///< Nothing was asked: the lease was lost before.
    lost,  ///< The row was no longer ours.
    released,
    uncertain,  ///< No answer, or only `busy`.
  };

  using passing_store::passing_store;

  [[nodiscard]] release_seen seen() const noexcept { return seen_; }

  std::vector<release_answer> release(std::span<const release_request> requests) override {
    // Asked again: what was unanswered the first time is most likely why nothing is ours any more.
    const bool is_first = seen_.exchange(release_seen::uncertain) == release_seen::none;
    auto answers = passing_store::release(requests);
    if (answers.front() == release_answer::released) seen_ = release_seen::released;
    if (answers.front() == release_answer::lost) {
      seen_ = is_first ? release_seen::lost : release_seen::released;
    }
    return answers;
  }

 private:
  std::atomic<release_seen> seen_{release_seen::none};
};

}  // namespace rowlock::cli

#endif
