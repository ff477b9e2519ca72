// Memory that the processes of one measurement share.
#ifndef ROWLOCK_BENCH_RACE_SHARED_STATE_HPP
#define ROWLOCK_BENCH_RACE_SHARED_STATE_HPP

#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "race/tally.hpp"

namespace rowlock::race {

enum class stage : int {
  building,   ///< The parent makes the tables.
  entering,   ///< Processes connect.
  warming,    ///< They run, and nothing is counted.
  measuring,  ///< What begins and ends in here counts.
  over,
};

inline constexpr std::size_t most_processes = 64;

/// The grants of the key that all want.
///
/// Thread-safety: all members may be called from any thread of any process that shares it.
class hot_key_grants {
 public:
  using clock = std::chrono::steady_clock;

  hot_key_grants();
  hot_key_grants(const hot_key_grants&) = delete;
  hot_key_grants& operator=(const hot_key_grants&) = delete;
  ~hot_key_grants();

  struct grant {
    std::uint64_t number;
    bool is_alone;  ///< False: another thread is inside.
    /// Since the previous holder began its release; none if this thread was the previous holder.
    std::optional<std::chrono::nanoseconds> handed_over_in;
  };

  grant enter(unsigned thread);
  /// Right before the key is released.
  void leave();
  /// Until there is a grant after `number`, or `is_over`, which is called each 50 ms.
  void wait_for_another(std::uint64_t number, const std::function<bool()>& is_over);

 private:
  pthread_mutex_t mutex_{};
  pthread_cond_t changed_{};
  // Guarded by mutex_:
  std::uint64_t grants_ = 0;
  bool is_inside_ = false;
  std::optional<unsigned> last_;
  clock::time_point left_at_;
};

struct result_of_process {
  tally counted;
  std::array<char, 512> failure{};  ///< Empty when it worked.

  void fail(std::string_view why) noexcept {
    why.copy(failure.data(), failure.size() - 1);
    if (why.empty()) failure[0] = '?';
  }
};

struct shared_state {
  std::atomic<stage> now{stage::building};
  std::atomic<unsigned> entered{0};  ///< Threads that are connected.
  std::atomic<bool> is_held{false};  ///< By the holder that the others run against.
  hot_key_grants hot_key;
  latencies of_minute;  ///< Pairs of the current minute; only added to with `plan::by_minute`.
  std::array<result_of_process, most_processes> results;
};

/// In memory that children of fork() share with their parent.
class mapped_state {
 public:
  mapped_state();
  mapped_state(const mapped_state&) = delete;
  mapped_state& operator=(const mapped_state&) = delete;
  ~mapped_state();

  shared_state& operator*() const { return *state_; }

 private:
  shared_state* state_;
};

}  // namespace rowlock::race

#endif
