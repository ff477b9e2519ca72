// One thread of a worker: takes keys in every way, works under them, and reports.
#ifndef ROWLOCK_TESTS_FAULTS_WORKER_HPP
#define ROWLOCK_TESTS_FAULTS_WORKER_HPP

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <random>

#include "faults/books.hpp"
#include "faults/score_sheet.hpp"
#include "rowlock/lock_table.hpp"

namespace rowlock::tests {

/// What the whole run has in common.
inline constexpr std::chrono::milliseconds ttl{400};
inline constexpr std::chrono::milliseconds margin{100};
/// Of those who let their leases run out: short, since they have to be waited for.
inline constexpr std::chrono::milliseconds short_ttl{60};
inline constexpr std::chrono::milliseconds short_margin{20};

enum class fencing { on, off };

class worker {
 public:
  struct place {
    std::size_t slot;
    std::size_t thread;
  };

  worker(database_url url, score_sheet& sheet, place where, fencing fences, unsigned seed);

  /// Until the sheet says stop: leases that are renewed in `locks`, and row locks.
  void work(lock_table& locks);
  /// The same with leases that `locks` does not renew: lets each run out, waits until somebody else
  /// has taken the key over, and then tries to commit.
  void work_late(lock_table& locks);

 private:
  template <class Turn>
  void take_turns(const Turn& turn);
  void work_under_lease(lock_table& locks, int key);
  void work_under_row_lock(int key);
  void be_late(lock_table& locks, int key);

  enum class takeover { granted, committed };

  /// Returns when the key has been granted to somebody else, and that one has committed if that is
  /// to be awaited, or when it takes too long: whether it has.
  bool await_takeover(sql_line& line, const entry& begun, takeover awaited);
  void commit(const lease& held, const books::task& work, const fenced_run_options& options);
  /// Some of the ways to fence.
  fenced_run_options any_options();
  /// Works for some milliseconds, telling `belief` as long as `is_valid()`.
  template <class IsValid>
  void toil(score_sheet::belief& belief, const IsValid& is_valid);

  int draw(int below);
  books& connection();
  std::atomic<phase>& now();

  database_url url_;
  score_sheet& sheet_;
  place where_;
  fencing fences_;
  std::minstd_rand random_;
  std::unique_ptr<books> books_;
};

}  // namespace rowlock::tests

#endif
