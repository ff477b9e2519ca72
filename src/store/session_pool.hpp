// A bounded pool of sessions, shared by all threads of a store.
#ifndef ROWLOCK_STORE_SESSION_POOL_HPP
#define ROWLOCK_STORE_SESSION_POOL_HPP

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/port/passing_store.hpp"
#include "store/session.hpp"

namespace rowlock::detail {

enum class session_use { anything, keeping_leases };

/// Opens sessions on demand, keeps them, and replaces those whose connection the server has closed.
/// A call gets the idle session that was opened first, so as few as possible are used: a server
/// plans a prepared statement anew in its first executions in each session.
///
/// Calls for new leases never take the last of two or more sessions, however many such calls wait.
/// That one is left for calls that renew or end leases, so that held leases do not run out.
///
/// Where the server allows no further connection, calls share those that are open and wait for
/// them. After `full_pause` a call that finds none idle, or only the one for renewals, tries to
/// open one again.
///
/// When a session is lost during a call, those that have answered nothing since that call began are
/// suspect, because the same network or server may have failed under them. They are closed before
/// use, so at most one call of a thread waits for a dead connection.
///
/// Thread-safety: all members may be called from any thread. The pool must outlive its loans.
class session_pool {
  using clock = std::chrono::steady_clock;

  struct pooled {
    std::unique_ptr<session> open;
    std::uint64_t number = 0;  // the lower, the older
    std::uint64_t moment = 0;  // of the last loan's begin, or of its end while idle
    bool is_suspect = false;
  };

 public:
  /// Short enough that a raised limit is used soon, and so long that the attempts do not fill the
  /// server's log.
  static constexpr std::chrono::milliseconds full_pause{1000};
  /// A session for one call. Returns to the pool at the end if it can be used again.
  class loan {
   public:
    loan(session_pool& pool, session_use used_for, pooled lent) noexcept
        : pool_{pool}, used_for_{used_for}, lent_{std::move(lent)} {}
    loan(const loan&) = delete;
    loan& operator=(const loan&) = delete;
    ~loan() { pool_.give_back(used_for_, std::move(lent_)); }

    session& operator*() noexcept { return *lent_.open; }
    session* operator->() noexcept { return lent_.open.get(); }

   private:
    session_pool& pool_;
    const session_use used_for_;
    pooled lent_;
  };

  /// Throws `error` (misuse) for a size of 0 or above 10,000.
  session_pool(std::unique_ptr<session_source> source, unsigned size,
               std::chrono::milliseconds timeout,
               std::chrono::milliseconds before_reopening = full_pause);

  [[nodiscard]] session_source& source() const noexcept { return *source_; }

  /// Throws `error` (unavailable) if no session gets free in time, and any exception of the source,
  /// but `no_connection_left` only if no other session of the pool gets free in time.
  loan take(session_use used_for = session_use::anything);

  /// Calls `work` with a session. Before the first such call of the pool the table is checked.
  /// Throws what `take`, the check and `work` throw.
  void run(session_use used_for, work_on_store work);
  /// The same for work that needs no table: it is not checked.
  void run_unchecked(work_on_store work);

  /// The number of calls that wait for a session.
  [[nodiscard]] unsigned waiting();

 private:
  /// Calls that wait for a session; each freed session wakes one of them.
  struct queue {
    unsigned lent = 0;
    unsigned waiting = 0;
    std::condition_variable freed;
  };

  pooled take_idle_or_a_place(session_use used_for, clock::time_point until);
  /// Opens a session in a place that was taken. False if no further connection can be opened, or
  /// only the one for renewals: then the place is given back, and another session can be waited
  /// for.
  bool open_in(pooled& place, session_use used_for, clock::time_point until);
  /// Whether the session just opened is the last that the limit allows, and is left for renewals.
  bool was_the_last(session_use used_for);
  static void close(pooled& unfit) noexcept;
  void give_back(session_use used_for, pooled lent) noexcept;
  void check_table_once(session& any);
  queue& queue_of(session_use used_for) {
    return used_for == session_use::keeping_leases ? keeping_ : others_;
  }
  [[nodiscard]] unsigned lent() const noexcept ROWLOCK_REQUIRES(mutex_) {
    return keeping_.lent + others_.lent;
  }
  [[nodiscard]] bool is_full() const noexcept ROWLOCK_REQUIRES(mutex_) {
    return clock::now() < full_until_;
  }
  /// How many sessions the pool may have now.
  [[nodiscard]] unsigned capacity() const noexcept ROWLOCK_REQUIRES(mutex_) {
    return is_full() ? full_at_ : size_;
  }
  [[nodiscard]] bool may_take(const queue& taker) const noexcept ROWLOCK_REQUIRES(mutex_);
  /// Whether calls for new leases would have as many as could be opened when the pool was full
  /// last, if that many are lent to `taker`.
  [[nodiscard]] bool is_the_last(const queue& taker, unsigned lent) const noexcept
      ROWLOCK_REQUIRES(mutex_);
  [[noreturn]] void throw_all_busy() const ROWLOCK_REQUIRES(mutex_);
  void wake_next() noexcept ROWLOCK_REQUIRES(mutex_);

  const std::unique_ptr<session_source> source_;
  const unsigned size_;
  const std::chrono::milliseconds timeout_;
  const std::chrono::milliseconds before_reopening_;
  std::atomic<bool> table_is_checked_{false};
  std::atomic<std::uint64_t> opened_{0};
  checked_mutex mutex_;
  queue keeping_ ROWLOCK_GUARDED_BY(mutex_);  // served first
  queue others_ ROWLOCK_GUARDED_BY(mutex_);
  std::vector<pooled> idle_ ROWLOCK_GUARDED_BY(mutex_);  // the first opened is the last
  std::uint64_t moments_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  clock::time_point full_until_ ROWLOCK_GUARDED_BY(mutex_) = clock::time_point::min();
  /// The sessions there were when no further one could be opened.
  unsigned full_at_ ROWLOCK_GUARDED_BY(mutex_) = 0;
  std::exception_ptr why_full_ ROWLOCK_GUARDED_BY(mutex_);  // null before the first time
};

}  // namespace rowlock::detail

#endif
