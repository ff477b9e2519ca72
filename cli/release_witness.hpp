// A store that remembers how the release of a lease went.
#ifndef ROWLOCK_CLI_RELEASE_WITNESS_HPP
#define ROWLOCK_CLI_RELEASE_WITNESS_HPP

#include <atomic>

#include "rowlock/error.hpp"
#include "rowlock/store.hpp"

namespace rowlock::cli {

/// Hands every call on. For a lock_table with one lease: `with_lock` tells whether the key was
/// kept, but not whether a release that was put off succeeded in the end.
///
/// Thread-safety: all members may be called from any thread.
class release_witness final : public store {
 public:
  enum class release_seen {
    none,  ///< Nothing was asked: the lease was lost before.
    lost,  ///< The row was no longer ours.
    released,
    uncertain,  ///< No answer, or only `busy`.
  };

  /// `rows` must outlive it.
  explicit release_witness(store& rows) : rows_{rows} {}

  [[nodiscard]] release_seen seen() const noexcept { return seen_; }

  std::vector<acquire_answer> acquire(std::span<const acquire_request> requests) override {
    return rows_.acquire(requests);
  }
  std::vector<renew_answer> renew(std::span<const renew_request> requests) override {
    return rows_.renew(requests);
  }
  std::vector<release_answer> release(std::span<const release_request> requests) override {
    // Asked again: what was unanswered the first time is most likely why nothing is ours any more.
    const bool is_first = seen_.exchange(release_seen::uncertain) == release_seen::none;
    auto answers = rows_.release(requests);
    if (answers.front() == release_answer::released) seen_ = release_seen::released;
    if (answers.front() == release_answer::lost) {
      seen_ = is_first ? release_seen::lost : release_seen::released;
    }
    return answers;
  }
  std::vector<std::optional<row_state>> read(std::span<const lock_key> keys) override {
    return rows_.read(keys);
  }
  std::vector<std::optional<row_state>> prepare(std::span<const lock_key> keys) override {
    return rows_.prepare(keys);
  }
  std::vector<std::optional<row_state>> watch(std::span<const lock_key> keys) override {
    return rows_.watch(keys);
  }
  std::unique_ptr<subscription> listen(release_listener& listener) override {
    return rows_.listen(listener);
  }
  std::vector<row_state> list() override { return rows_.list(); }
  std::vector<std::string> weak_settings() override { return rows_.weak_settings(); }

 private:
  store& rows_;
  std::atomic<release_seen> seen_{release_seen::none};
};

}  // namespace rowlock::cli

#endif
