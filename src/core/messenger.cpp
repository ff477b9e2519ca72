// Tells of lost leases.
#include "core/messenger.hpp"

#include <utility>

namespace rowlock::detail {

messenger::messenger()
    : queue_{std::make_shared<queue>()}, thread_{[shared = queue_] { run(shared); }} {}

messenger::~messenger() {
  {
    const std::scoped_lock lock{queue_->mutex};
    queue_->ending = true;
  }
  queue_->wakeup.notify_one();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void messenger::tell(kept_leases lost) {
  const std::scoped_lock lock{queue_->mutex};
  for (auto& lease : lost) queue_->to_tell.push_back(std::move(lease));
  queue_->wakeup.notify_one();
}

void messenger::run(const std::shared_ptr<queue>& told) {
  std::unique_lock lock{told->mutex};
  for (;;) {
    told->wakeup.wait(lock, [&] { return told->ending || !told->to_tell.empty(); });
    const kept_leases now = std::exchange(told->to_tell, {});
    if (now.empty()) return;
    lock.unlock();
    for (const auto& lease : now) lease->lost.request_stop();
    lock.lock();
  }
}

}  // namespace rowlock::detail
