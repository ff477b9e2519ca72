// Who has the hot key, and since when its last holder wants to be rid of it.
#ifndef ROWLOCK_BENCH_RACE_TURNS_HPP
#define ROWLOCK_BENCH_RACE_TURNS_HPP

#include <pthread.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace rowlock::race {

/// Thread-safety: all members may be called from any thread of any process that shares it.
class turns {
 public:
  using clock = std::chrono::steady_clock;

  turns();
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;
  ~turns();

  struct grant {
    std::uint64_t number;
    bool is_alone;  ///< False: somebody else is inside.
    /// Since the one before wanted to give it back; none if that was the same one.
    std::optional<std::chrono::nanoseconds> handed_over_in;
  };

  grant enter(unsigned who);
  /// Right before the key is given back.
  void leave();
  /// Until somebody was granted after `number`, or `is_over`, which is asked now and then.
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

}  // namespace rowlock::race

#endif
