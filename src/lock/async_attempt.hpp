// An attempt for callers that do not block.
#ifndef ROWLOCK_LOCK_ASYNC_ATTEMPT_HPP
#define ROWLOCK_LOCK_ASYNC_ATTEMPT_HPP

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "base/worker_pool.hpp"
#include "lease/lease_keeper.hpp"
#include "lock/acquire_attempt.hpp"

namespace rowlock::detail {

/// The crew of the keeper asks; a wait is an entry in the line, and has appointments of the crew if
/// its time is limited. The attempt lives as long as one of these needs it, and `keeper::close`
/// waits for that. A stop, or the end of the time for an answer, ends it even while it waits for
/// its turn to ask, or its first question hangs.
///
/// In a child of fork() nothing ends it.
///
/// Thread-safety: all members may be called from any thread.
class continued_acquisition : public std::enable_shared_from_this<continued_acquisition> {
 public:
  /// Called once, by a thread of the crew or by the one that cancels or stops, and under no mutex.
  using ending = std::function<void(wait_end)>;

  /// As `acquisition`.
  continued_acquisition(keeper& leases, keeper::visit here, wanted_lease wanted, retry_policy wait,
                        ending told);
  continued_acquisition(const continued_acquisition&) = delete;
  continued_acquisition& operator=(const continued_acquisition&) = delete;
  ~continued_acquisition();

  /// Throws `error` (unavailable) when the system lets us start no thread.
  void start();

  /// Ends it at once as stopped, whatever it is at. What is granted all the same is released.
  void cancel();

 private:
  struct closing {
    continued_acquisition* attempt;
    void operator()() const;
  };
  struct stopping {
    continued_acquisition* attempt;
    void operator()() const;
  };

  /// Runs a step of the crew's, which answers how the attempt ended, if it did.
  template <class Step>
  void take(const Step& step);
  std::optional<wait_end> ask_first();
  std::optional<wait_end> wait_in_line();
  /// `step` may end it at `when`.
  void run_at(boot_clock::time_point when, void (continued_acquisition::*step)());
  void time_over();
  void give_up();
  void stop_waiting();
  /// Ends it as `how` answers under mutex_, if its first question was not answered. False: it is
  /// in line.
  template <class How>
  bool end_before_line(const How& how);
  [[nodiscard]] wait_end stopped() const;
  void finish(wait_end end);
  /// Of one that is not over: whom to tell. Null: it is over.
  ending end_it();

  keeper& leases_;
  const keeper::visit here_;
  const std::stop_token stop_;
  const bool can_wait_;

  std::mutex mutex_;
  acquisition attempt_;      // enters and leaves its line under mutex_
  ending told_;              // guarded by mutex_; null: it is over
  bool is_asking_ = false;   // guarded by mutex_; its turn to ask has come
  bool is_in_line_ = false;  // guarded by mutex_; it was, if it is over
  std::vector<crew::appointment> at_the_end_;

  // Destroyed first, because they use what is above.
  std::optional<std::stop_callback<closing>> on_close_;
  std::optional<std::stop_callback<stopping>> on_stop_;
};

}  // namespace rowlock::detail

#endif
