// Progress of the work: counts that all processes share, and the line that shows them.
#ifndef ROWLOCK_EXAMPLE_PROGRESS_HPP
#define ROWLOCK_EXAMPLE_PROGRESS_HPP

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace settlement {

struct worker_counts {
  std::atomic<std::uint64_t> settled;
  std::atomic<std::uint64_t> refused_held;     ///< Another worker had the invoice.
  std::atomic<std::uint64_t> refused_busy;     ///< A transaction had the row, or the file.
  std::atomic<std::uint64_t> already_settled;  ///< Settled between the read and the lease.
  std::atomic<std::uint64_t> lost;             ///< Another worker took over during the work.
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The counts of each worker. Made before the fork, they outlive a worker that is killed.
///
/// Thread-safety: all members may be called from any thread and any process.
class shared_counts {
 public:
  static constexpr unsigned most_workers = 64;

  shared_counts();
  shared_counts(const shared_counts&) = delete;
  shared_counts& operator=(const shared_counts&) = delete;
  ~shared_counts();

  [[nodiscard]] worker_counts& of(unsigned worker) const noexcept {
    return shared_->workers[worker];
  }
  [[nodiscard]] std::uint64_t settled() const noexcept;
  [[nodiscard]] std::uint64_t refused() const noexcept;

  /// Waits until `workers` have called it; at most five seconds.
  void await_all(unsigned workers) const noexcept;

 private:
  struct shared {
    std::array<worker_counts, most_workers> workers;
    std::atomic<unsigned> arrived;
  };
  shared* shared_;
};

/// Overwritten on a terminal; elsewhere a new line every two seconds.
///
/// Thread-safety: one thread at a time.
class progress_line {
 public:
  progress_line(const shared_counts& counts, std::size_t invoices);

  /// Prints when it is time.
  void show(unsigned workers);
  /// Prints the last line.
  void finish() const;

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] std::string text() const;

  const shared_counts& counts_;
  std::size_t invoices_;
  bool is_terminal_;
  clock::time_point began_;
  clock::time_point next_;
};

}  // namespace settlement

#endif
