// What the workers have done so far, in memory that all processes share.
#ifndef ROWLOCK_EXAMPLE_SCOREBOARD_HPP
#define ROWLOCK_EXAMPLE_SCOREBOARD_HPP

#include <array>
#include <atomic>
#include <cstdint>

namespace settlement {

struct score {
  std::atomic<std::uint64_t> settled;
  std::atomic<std::uint64_t> refused_held;     ///< Somebody else had the invoice.
  std::atomic<std::uint64_t> refused_busy;     ///< A transaction had the row, or the file.
  std::atomic<std::uint64_t> already_settled;  ///< Settled between the look and the lease.
  std::atomic<std::uint64_t> lost;             ///< Another worker took over during the work.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// One score for each worker. Made before the fork, it outlives a worker that is killed.
///
/// Thread-safety: all members may be called from any thread and any process.
class scoreboard {
 public:
  static constexpr unsigned most_workers = 64;

  scoreboard();
  scoreboard(const scoreboard&) = delete;
  scoreboard& operator=(const scoreboard&) = delete;
  ~scoreboard();

  score& of(unsigned worker) noexcept { return shared_->scores[worker]; }
  [[nodiscard]] std::uint64_t settled() const noexcept;
  [[nodiscard]] std::uint64_t refused() const noexcept;

  /// Waits until `workers` have called it; at most five seconds.
  void meet(unsigned workers) noexcept;

 private:
  struct shared {
    std::array<score, most_workers> scores;
    std::atomic<unsigned> arrived;
  };
  shared* shared_;
};

}  // namespace settlement

#endif
