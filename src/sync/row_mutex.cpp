// A lock on one key with the interface of std::timed_mutex.
#include "rowlock/row_mutex.hpp"

#include <utility>

#include "base/timed_mutex.hpp"
#include "rowlock/error.hpp"

namespace rowlock {

row_mutex::row_mutex(lock_table& locks, lock_key key)
    : locks_{locks}, key_{std::move(key)}, in_process_{std::make_unique<detail::timed_mutex>()} {
  check(key_);
}

row_mutex::~row_mutex() = default;

// Locked in one call and unlocked in another: the analysis cannot follow that.
ROWLOCK_UNCHECKED bool row_mutex::lock_row(const retry_policy& wait) {
  try {
    auto acquired = locks_.try_acquire(key_, {.wait = wait});
    if (acquired.acquired()) {
      held_.emplace(*std::move(acquired));
      return true;
    }
  } catch (...) {
    in_process_->unlock();
    throw;
  }
  in_process_->unlock();
  return false;
}

ROWLOCK_UNCHECKED void row_mutex::lock() {
  in_process_->lock();
  if (!lock_row(wait_forever())) {
    throw error{errc::unavailable, "the lock_table was destroyed while a caller waited for a row"};
  }
}

ROWLOCK_UNCHECKED bool row_mutex::try_lock() {
  return in_process_->try_lock_until(std::chrono::steady_clock::now()) && lock_row(no_wait());
}

ROWLOCK_UNCHECKED bool row_mutex::try_lock_within(std::chrono::milliseconds duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  if (!in_process_->try_lock_until(end)) return false;
  const auto left = end - std::chrono::steady_clock::now();
  return lock_row(wait_for(std::chrono::ceil<std::chrono::milliseconds>(left)));
}

ROWLOCK_UNCHECKED void row_mutex::unlock() noexcept {
  held_.reset();
  in_process_->unlock();
}

const lease& row_mutex::possession() const {
  if (!held_) throw error{errc::misuse, "the row_mutex is not locked: lock it first"};
  return *held_;
}

}  // namespace rowlock
