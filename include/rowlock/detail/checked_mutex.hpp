// A mutex whose use clang checks at compile time.
#ifndef ROWLOCK_DETAIL_CHECKED_MUTEX_HPP
#define ROWLOCK_DETAIL_CHECKED_MUTEX_HPP

#include <mutex>

// The attributes of clang's thread-safety analysis; other compilers have none.
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define ROWLOCK_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define ROWLOCK_THREAD_SAFETY(attribute)
#endif

/// A member that is read and written only with the mutex locked.
#define ROWLOCK_GUARDED_BY(mutex) ROWLOCK_THREAD_SAFETY(guarded_by(mutex))
/// A function that is called with the mutex locked.
#define ROWLOCK_REQUIRES(...) ROWLOCK_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// A function whose locking the analysis cannot follow; a comment says why it is right.
#define ROWLOCK_UNCHECKED ROWLOCK_THREAD_SAFETY(no_thread_safety_analysis)

namespace rowlock::detail {

/// `std::mutex` with the attributes that libstdc++ lacks.
class ROWLOCK_THREAD_SAFETY(capability("mutex")) checked_mutex {
 public:
  void lock() ROWLOCK_THREAD_SAFETY(acquire_capability()) { mutex_.lock(); }
  void unlock() ROWLOCK_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }

  /// Tells the analysis, which looks at each function by itself, that the caller has locked it.
  void assume_locked() const ROWLOCK_THREAD_SAFETY(assert_capability(this)) {}

 private:
  friend class checked_lock;
  std::mutex mutex_;
};

/// `std::unique_lock` for it. Locks at construction, and may be unlocked and locked again.
class ROWLOCK_THREAD_SAFETY(scoped_lockable) checked_lock {
 public:
  explicit checked_lock(checked_mutex& locked) ROWLOCK_THREAD_SAFETY(acquire_capability(locked))
      : lock_{locked.mutex_} {}
  checked_lock(const checked_lock&) = delete;
  checked_lock& operator=(const checked_lock&) = delete;
  ~checked_lock() ROWLOCK_THREAD_SAFETY(release_capability()) = default;

  void lock() ROWLOCK_THREAD_SAFETY(acquire_capability()) { lock_.lock(); }
  void unlock() ROWLOCK_THREAD_SAFETY(release_capability()) { lock_.unlock(); }

  /// For condition variables.
  [[nodiscard]] std::unique_lock<std::mutex>& native() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace rowlock::detail

#endif
