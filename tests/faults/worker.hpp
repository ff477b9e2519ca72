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
/// Of the threads that let their leases run out: short, since the next holder waits for it.
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
  /// The same with leases that `locks` does not renew: lets each run out, waits until another
  /// thread has taken the key over, and then tries to commit.
  void work_late(lock_table& locks);

 private:
  /// Reports what a lease says of itself.
  class belief_in_lease {
   public:
    belief_in_lease(score_sheet& sheet, int key, const lease& held)
        : held_{held}, belief_{sheet.begin_belief(key, held.token(), possession_kind::lease)} {}
    void update() noexcept {
      // The clock first: it was valid then if it still is.
      const auto before = boot_clock::now();
      if (held_.is_valid()) belief_.believe(before);
    }
    void acknowledge() noexcept { belief_.acknowledge(); }

   private:
    const lease& held_;
    score_sheet::belief belief_;
  };

  /// A transaction has its row as long as it lasts.
  class belief_in_row_lock {
   public:
    belief_in_row_lock(score_sheet& sheet, int key, version granted)
        : belief_{sheet.begin_belief(key, granted, possession_kind::row_lock)} {}
    void update() noexcept { belief_.believe(boot_clock::now()); }
    void acknowledge() noexcept { belief_.acknowledge(); }

   private:
    score_sheet::belief belief_;
  };

  template <class Turn>
  void take_turns(const Turn& turn);
  void work_under_lease(lock_table& locks, int key);
  /// Extends some leases, and passes some on. False if the lease is gone.
  bool treat_by_hand(lock_table& locks, lease& held);
  void work_under_row_lock(int key);
  void be_late(lock_table& locks, int key);

  enum class takeover { granted, committed };

  /// Returns when the key has been granted to another holder, which has committed if that is to be
  /// awaited, or when it takes too long: whether it has. Checks its own lease all the time.
  bool await_takeover(sql_line& line, const entry& begun, takeover awaited,
                      belief_in_lease& belief);
  void commit(const lease& held, const books::task& work, const fenced_run_options& options);
  /// Some of the ways to fence.
  fenced_run_options any_options();
  /// Works for some milliseconds; at times, and where that does no harm, for longer than a lease
  /// lasts without being renewed.
  template <class Belief>
  void toil(Belief& belief, bool may_be_long = false);

  /// Does nothing but update the belief.
  template <class Belief>
  static void watch(Belief& belief, std::chrono::milliseconds how_long);

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
