// One key in the shape of std::timed_mutex.
#include "rowlock/row_mutex.hpp"

#include <utility>

#include "rowlock/error.hpp"

namespace rowlock {

row_mutex::row_mutex(lock_table& locks, lock_key key) : locks_{locks}, key_{std::move(key)} {
  check(key_);
}

bool row_mutex::lock_row(std::unique_lock<std::timed_mutex> here, const retry_policy& wait) {
  auto acquired = locks_.try_acquire(key_, {.wait = wait});
  if (!acquired.acquired()) return false;
  held_.emplace(*std::move(acquired));
  here.release();  // stays locked, until unlock
  return true;
}

void row_mutex::lock() {
  if (!lock_row(std::unique_lock{here_}, wait_forever())) {
    throw error{errc::unavailable, "the lock_table was destroyed while somebody waited for a row"};
  }
}

bool row_mutex::try_lock() {
  std::unique_lock here{here_, std::try_to_lock};
  return here.owns_lock() && lock_row(std::move(here), no_wait());
}

void row_mutex::unlock() noexcept {
  held_.reset();
  here_.unlock();
}

const lease& row_mutex::possession() const {
  if (!held_) throw error{errc::misuse, "the row_mutex is not locked: lock it first"};
  return *held_;
}

}  // namespace rowlock
