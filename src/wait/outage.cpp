// Outages of the database, as seen by the waiters of a lock_table.
#include "wait/outage.hpp"

#include "base/faults.hpp"
#include "base/pause.hpp"
#include "rowlock/retry.hpp"

namespace rowlock::detail {

void outage::pause(boot_clock::time_point now) {
  pause_ = next_pause(retry_policy{}, pause_);
  next_ = now + pause_;
}

void outage::failed(std::size_t keys, const std::exception_ptr& why, boot_clock::time_point now) {
  const checked_lock lock{mutex_};
  failed_keys_ += keys;
  why_ = why;
  pause(now);
}

void outage::answered() noexcept {
  if (failed_keys_ == 0) return;
  const checked_lock lock{mutex_};
  failed_keys_ = 0;
  pause_ = {};
}

std::exception_ptr outage::why() const {
  const checked_lock lock{mutex_};
  return why_ == nullptr ? nullptr : copied_fault(why_);
}

boot_clock::time_point outage::next_attempt() const {
  const checked_lock lock{mutex_};
  return next_;
}

bool outage::may_try(boot_clock::time_point now) {
  if (!is_on()) return true;
  const checked_lock lock{mutex_};
  if (now < next_) return false;
  pause(now);
  return true;
}

}  // namespace rowlock::detail
