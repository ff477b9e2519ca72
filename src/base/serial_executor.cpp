// A thread that runs tasks in order.
#include "base/serial_executor.hpp"

#include <utility>

namespace rowlock::detail {

serial_executor::serial_executor()
    : queue_{std::make_shared<queue>()}, thread_{[shared = queue_] { run(shared); }} {}

serial_executor::~serial_executor() {
  {
    const checked_lock lock{queue_->mutex};
    queue_->ending = true;
  }
  queue_->wakeup.notify_one();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void serial_executor::post(std::function<void()> call) {
  const checked_lock lock{queue_->mutex};
  queue_->calls.push_back(std::move(call));
  queue_->wakeup.notify_one();
}

void serial_executor::run(const std::shared_ptr<queue>& tasks) {
  checked_lock lock{tasks->mutex};
  for (;;) {
    while (!tasks->ending && tasks->calls.empty()) tasks->wakeup.wait(lock.native());
    auto now = std::exchange(tasks->calls, {});
    if (now.empty()) return;
    lock.unlock();
    for (const auto& call : now) call();
    now.clear();  // destructors of captured objects may be the user's code, too
    lock.lock();
  }
}

}  // namespace rowlock::detail
