// The thread that makes the store calls of all waiters.
#ifndef ROWLOCK_WAIT_WAIT_LOOP_HPP
#define ROWLOCK_WAIT_WAIT_LOOP_HPP

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "batch/statement_batcher.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/port/store.hpp"
#include "wait/wait_queue.hpp"

namespace rowlock::detail {

class outage;

/// Get hints; null: about any key. Must not throw.
struct hint_sinks {
  /// The holder was asked to yield.
  std::function<void(const lock_key* key)> asked = [](const lock_key*) {};
  /// The row has changed. Returns whether it matters.
  std::function<bool(const lock_key* key)> changed = [](const lock_key*) { return false; };
};

/// For keys, one call tries all rows that may be free; the head of a line gets its turn and tries
/// in its caller's thread. Now and then one call reads all rows that are waited for: less than
/// twice a second once no new queue has come for a while, or as `poll_pace.hpp` says.
///
/// Thread-safety: all members may be called from any thread, except from `waiter::done`.
class wait_loop final : private release_listener {
 public:
  /// Gets a fault that ends no wait, once for all waiters of a call for so many keys. Must not
  /// throw.
  using fault_sink =
      std::function<void(const lock_key& first, std::size_t keys, const std::exception_ptr& fault,
                         boot_clock::duration took)>;

  wait_loop(wait_queue& queue, statement_batcher& batcher, std::shared_ptr<time_source> time,
            outage& away, fault_sink faults, hint_sinks hints = {});
  /// The loop must have been closed.
  ~wait_loop() override = default;

  /// To be called before the first waiter joins. Throws `error` (unavailable) if no thread can be
  /// started, and what `store::listen` throws. A later call continues from there.
  void start();
  /// Listens to the notifications of the store, if it has any. Throws what `store::listen` throws.
  void listen();

  /// Releases a lease that has ended after so many handoffs and grants its key to the next waiter,
  /// in one statement. Returns nothing if the lease has to be released instead. Then no waiter of
  /// this process may have the key at once, or other processes get a chance. Throws what the store
  /// throws; a try is then made for the waiter.
  std::optional<change_answer> handoff(const release_request& ended, unsigned handoffs);

  /// Ends the thread, after the call under way. The queue must have been stopped.
  void close();

 private:
  void released(const lock_key& key) noexcept override {
    queue_.released(key);
    hints_.changed(&key);
  }
  bool changed() noexcept override {
    const bool is_awaited = queue_.changed();
    return hints_.changed(nullptr) || is_awaited;
  }
  void taken(const lock_key& key, const grant_times& lasts) noexcept override {
    queue_.taken(key, lasts);
    hints_.changed(&key);
  }
  void asked(const lock_key& key) noexcept override {
    hints_.asked(&key);
    hints_.changed(&key);
  }
  void listening() noexcept override {
    queue_.listening();
    hints_.asked(nullptr);
    hints_.changed(nullptr);
  }

  void run();
  void try_heads(const waiters& heads);
  void read_all(std::span<const lock_key> keys);
  /// Asks the holders of these rows to yield to waiters that want that.
  void ask_holders(std::span<const lock_key> keys, std::span<const std::optional<row_state>> seen);
  std::vector<std::optional<row_state>> watch(std::span<const lock_key> keys);
  /// Reports faults that end no wait, and records whether the database is reachable.
  void note_faults(std::span<const std::shared_ptr<waiter>> heads,
                   std::span<const acquire_result> results, boot_clock::time_point tried_at);

  wait_queue& queue_;
  statement_batcher& batcher_;
  const std::shared_ptr<time_source> time_;
  outage& outage_;
  const fault_sink faults_;
  const hint_sinks hints_;

  checked_mutex starting_;
  bool has_listened_ ROWLOCK_GUARDED_BY(starting_) = false;
  std::unique_ptr<subscription> subscription_ ROWLOCK_GUARDED_BY(starting_);
  std::thread thread_ ROWLOCK_GUARDED_BY(starting_);
};

}  // namespace rowlock::detail

#endif
