// A mutex whose use clang checks at compile time.
#ifndef ROWLOCK_DETAIL_CHECKED_MUTEX_HPP
#define ROWLOCK_DETAIL_CHECKED_MUTEX_HPP

#include <mutex>

// Attributes of clang's thread-safety analysis; empty for other compilers.
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
// NOLINTBEGIN(cppcoreguidelines-macro-usage): attributes have no other spelling
#if defined(__clang__)
#define ROWLOCK_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define ROWLOCK_THREAD_SAFETY(attribute)
#endif

/// A member that is accessed only with the mutex locked.
#define ROWLOCK_GUARDED_BY(mutex) ROWLOCK_THREAD_SAFETY(guarded_by(mutex))
/// A function that is called only with the mutex locked.
#define ROWLOCK_REQUIRES(...) ROWLOCK_THREAD_SAFETY(requires_capability(__VA_ARGS__))
/// A function whose locking the analysis cannot follow; a comment says why it is correct.
#define ROWLOCK_UNCHECKED ROWLOCK_THREAD_SAFETY(no_thread_safety_analysis)
// NOLINTEND(cppcoreguidelines-macro-usage)

namespace rowlock::detail {

/// `std::mutex` with the attributes that libstdc++ lacks.
class ROWLOCK_THREAD_SAFETY(capability("mutex")) checked_mutex {
 public:
  void lock() ROWLOCK_THREAD_SAFETY(acquire_capability()) { mutex_.lock(); }
  void unlock() ROWLOCK_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }

  /// Tells the analysis, which examines each function alone, that the caller has locked it.
  void assume_locked() const ROWLOCK_THREAD_SAFETY(assert_capability(this)) {}

 private:
  friend class checked_lock;
  std::mutex mutex_;
};

/// `std::unique_lock` for a checked_mutex; may be unlocked and locked again.
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
