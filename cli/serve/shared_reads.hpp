// Reads of the database whose answers all requests share.
#ifndef ROWLOCK_CLI_SERVE_SHARED_READS_HPP
#define ROWLOCK_CLI_SERVE_SHARED_READS_HPP

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::cli {

/// Runs reads in one thread, one at a time, and each of a name at most once a second: answers and
/// faults are kept that long, and requests that come during a read share it. So the number of
/// browsers does not matter to the database.
///
/// Thread-safety: all members may be called from any thread.
class shared_reads {
 public:
  /// How long an answer is shared.
  static constexpr std::chrono::seconds lasts{1};
  /// From then on nothing waits for a read that goes on or is queued; it is answered with a fault.
  static constexpr std::chrono::seconds patience{3};
  /// How many names are known at a time.
  static constexpr std::size_t most_names = 64;

  struct outcome {
    /// What the read returned.
    std::shared_ptr<const std::string> answer = nullptr;
    /// For people; without passwords.
    std::string fault = {};

    /// The read goes on: `on_end` will be called.
    [[nodiscard]] bool is_pending() const { return !answer && fault.empty(); }
  };
  struct counts {
    std::uint64_t reads = 0;
    std::uint64_t faults = 0;
  };

  /// `on_end` is called in the thread of the reads, after each. Throws `error` (unavailable) when
  /// the system cannot start a thread.
  shared_reads(std::shared_ptr<time_source> time, std::function<void()> on_end);
  shared_reads(const shared_reads&) = delete;
  shared_reads& operator=(const shared_reads&) = delete;
  /// Waits for the read that goes on.
  ~shared_reads();

  /// The answer of the last second, or none yet: then `read` is called in the thread. Does not
  /// wait. `read` may throw.
  outcome get(const std::string& name, const std::function<std::string()>& read);

  [[nodiscard]] counts counted() const;

 private:
  struct entry {
    std::function<std::string()> read;
    outcome last;
    bool has_ended = false;
    bool is_queued = false;
    boot_clock::time_point changed;  // when it was queued, or else when it ended
  };

  void run();
  static outcome perform(const std::function<std::string()>& read);
  bool make_room() ROWLOCK_REQUIRES(mutex_);
  /// Drops the answers that are no longer shared.
  void forget_old(boot_clock::time_point now) ROWLOCK_REQUIRES(mutex_);

  const std::shared_ptr<time_source> time_;
  const std::function<void()> on_end_;
  mutable detail::checked_mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, entry> entries_ ROWLOCK_GUARDED_BY(mutex_);
  std::deque<std::string> queue_ ROWLOCK_GUARDED_BY(mutex_);
  counts counts_ ROWLOCK_GUARDED_BY(mutex_);
  bool is_faulty_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool is_over_ ROWLOCK_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace rowlock::cli

#endif
