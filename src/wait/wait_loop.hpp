// The thread that makes the calls of all waiters.
#ifndef ROWLOCK_WAIT_WAIT_LOOP_HPP
#define ROWLOCK_WAIT_WAIT_LOOP_HPP

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "batch/statement_batcher.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/port/store.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

class outage;

/// Rows that may be free are tried in one call; now and then all rows are read in one call, less
/// than twice a second when no caller has come for a while. So a wait costs no thread.
///
/// Thread-safety: all members may be called from any thread, except from `waiter::done`.
class wait_loop final : private release_listener {
 public:
  /// Faults that end no wait: of a call for so many keys. Once for all waiters; must not throw.
  using fault_sink =
      std::function<void(const lock_key& first, std::size_t keys, const std::exception_ptr& fault,
                         boot_clock::duration took)>;

  wait_loop(wait_queue& queue, statement_batcher& batcher, std::shared_ptr<time_source> time,
            outage& away, fault_sink faults);
  /// It must have been closed.
  ~wait_loop() override = default;

  /// Before the first waiter joins. Throws `error` (unavailable) when the system lets us start no
  /// thread, and what the store throws when it is to listen; a later call goes on from there.
  void start();

  /// Releases a lease that has ended after so many handoffs and grants its key to the next waiter,
  /// in one statement. None: no waiter of this process may have it at once, or other processes have
  /// their chance; it is to be released. Throws what the store throws; a try is made for the waiter
  /// then.
  std::optional<change_answer> handoff(const release_request& ended, unsigned handoffs);

  /// Ends the thread, after the call under way. The queue must have been stopped.
  void close();

 private:
  void released(const lock_key& key) noexcept override { queue_.released(key); }
  void taken(const lock_key& key, const grant_times& lasts) noexcept override {
    queue_.taken(key, lasts);
  }
  void listening() noexcept override { queue_.listening(); }

  void run();
  void try_heads(const waiters& heads);
  void read_all(std::span<const lock_key> keys);
  std::vector<std::optional<row_state>> watch(std::span<const lock_key> keys);
  /// Reports the faults that end no wait, and whether the database is away.
  void note_faults(std::span<const std::shared_ptr<waiter>> heads,
                   std::span<const acquire_result> results, boot_clock::time_point tried_at);

  wait_queue& queue_;
  statement_batcher& batcher_;
  const std::shared_ptr<time_source> time_;
  outage& outage_;
  const fault_sink faults_;

  std::mutex starting_;
  // All below are guarded by starting_, and stay as they are once `start` has returned.
  bool has_listened_ = false;
  std::unique_ptr<subscription> subscription_;
  std::thread thread_;
};

}  // namespace rowlock::detail

#endif
