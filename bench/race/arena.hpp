// What the processes of one measurement share.
#ifndef ROWLOCK_BENCH_RACE_ARENA_HPP
#define ROWLOCK_BENCH_RACE_ARENA_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "race/tally.hpp"
#include "race/turns.hpp"

namespace rowlock::race {

enum class stage : int {
  building,   ///< The parent makes the tables.
  entering,   ///< Processes connect.
  warming,    ///< They run, and nothing is counted.
  measuring,  ///< What begins and ends in here counts.
  over,
};

inline constexpr std::size_t most_processes = 64;

/// What one process came to.
struct result_of_process {
  tally counted;
  std::array<char, 512> failure{};  ///< Empty when it worked.

  void fail(std::string_view why) noexcept {
    why.copy(failure.data(), failure.size() - 1);
    if (why.empty()) failure[0] = '?';
  }
};

struct arena {
  std::atomic<stage> now{stage::building};
  std::atomic<unsigned> entered{0};  ///< Threads that are connected.
  std::atomic<bool> is_held{false};  ///< By the holder that the others run against.
  turns hot_key;
  std::array<result_of_process, most_processes> results;
};

/// In memory that children of fork() share with their parent.
class shared_arena {
 public:
  shared_arena();
  shared_arena(const shared_arena&) = delete;
  shared_arena& operator=(const shared_arena&) = delete;
  ~shared_arena();

  arena& operator*() const { return *arena_; }
  arena* operator->() const { return arena_; }

 private:
  arena* arena_;
};

}  // namespace rowlock::race

#endif
