// Calls the user's code.
#include "base/serial_executor.hpp"

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

void messenger::tell(std::function<void()> call) {
  const std::scoped_lock lock{queue_->mutex};
  queue_->calls.push_back(std::move(call));
  queue_->wakeup.notify_one();
}

void messenger::run(const std::shared_ptr<queue>& told) {
  std::unique_lock lock{told->mutex};
  for (;;) {
    told->wakeup.wait(lock, [&] { return told->ending || !told->calls.empty(); });
    auto now = std::exchange(told->calls, {});
    if (now.empty()) return;
    lock.unlock();
    for (const auto& call : now) call();
    now.clear();  // what the calls hold may be the user's as well
    lock.lock();
  }
}

}  // namespace rowlock::detail
