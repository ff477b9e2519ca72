// The thread that reads the watched keys of a lock_table.
#ifndef ROWLOCK_WATCH_KEY_WATCHER_HPP
#define ROWLOCK_WATCH_KEY_WATCHER_HPP

#include <condition_variable>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/closable_callback.hpp"
#include "base/serial_executor.hpp"
#include "rowlock/clock.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/lock_key.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/watch.hpp"

namespace rowlock::detail {

/// One watch, and the state that its callback gets next: states that come during a call replace
/// each other.
///
/// Thread-safety: all members may be called from any thread.
class watched_entry {
 public:
  watched_entry(lock_key watched, watch_callback callback)
      : key{std::move(watched)}, callback_{std::move(callback)} {}

  /// Whether `tell_latest` has to be called: the state is new, and no such call is to come.
  bool saw(const std::optional<row_state>& row);
  /// The same for a read that failed.
  bool failed(const std::string& why);
  void tell_latest();
  void close() noexcept { callback_.close(); }

  const lock_key key;

 private:
  bool is_to_be_told(watched_key next) ROWLOCK_REQUIRES(mutex_);

  checked_mutex mutex_;
  std::optional<watched_key> latest_ ROWLOCK_GUARDED_BY(mutex_);
  bool is_told_soon_ ROWLOCK_GUARDED_BY(mutex_) = false;
  closable_callback<const watched_key&> callback_;
};

/// Reads all watched keys with one call each second, and sooner after a notification: at most
/// twenty times a second, whatever is announced.
///
/// Thread-safety: all members may be called from any thread.
class key_watcher {
 public:
  key_watcher(store& rows, std::shared_ptr<time_source> time);
  key_watcher(const key_watcher&) = delete;
  key_watcher& operator=(const key_watcher&) = delete;
  /// It must have been closed.
  ~key_watcher() = default;

  /// Throws `error` (unavailable) if no thread can be started.
  std::shared_ptr<watched_entry> add(lock_key key, watch_callback callback);
  void remove(const std::shared_ptr<watched_entry>& ended) noexcept;

  /// A hint; null: any key. Returns whether such a key is watched.
  bool may_have_changed(const lock_key* key);

  /// Ends the reads, after the one under way, and then the calls.
  void close() noexcept;

 private:
  using entries = std::vector<std::shared_ptr<watched_entry>>;

  void run();
  /// Waits until a read is due; empty once closed.
  entries await_read();
  void read(const entries& watched);
  void tell(const std::shared_ptr<watched_entry>& entry);

  store& rows_;
  const std::shared_ptr<time_source> time_;

  checked_mutex mutex_;
  std::condition_variable wake_;
  std::set<std::shared_ptr<watched_entry>> watched_ ROWLOCK_GUARDED_BY(mutex_);
  boot_clock::time_point last_read_ ROWLOCK_GUARDED_BY(mutex_) = boot_clock::time_point::min();
  bool may_be_new_ ROWLOCK_GUARDED_BY(mutex_) = false;
  bool is_closed_ ROWLOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_ ROWLOCK_GUARDED_BY(mutex_);
  std::optional<serial_executor> calls_;  // constant from the start of the thread until `close`
};

}  // namespace rowlock::detail

#endif
