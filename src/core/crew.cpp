// Threads for calls that block.
#include "core/crew.hpp"

#include "core/start_thread.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

crew::crew(unsigned most, std::shared_ptr<time_source> time)
    : most_{most}, time_{std::move(time)} {}

void crew::run(task work) {
  const std::scoped_lock lock{mutex_};
  if (now_.size() >= idle_ && threads_.size() < most_) start_thread();
  now_.push_back(std::move(work));
  wake_.notify_one();
}

void crew::start_thread() {
  try {
    detail::start_thread("make calls that block",
                         [this] { threads_.emplace_back([this] { work(); }); });
  } catch (const error&) {
    if (threads_.empty()) throw;
  }
}

crew::appointment crew::run_at(boot_clock::time_point when, task work) {
  const std::scoped_lock lock{mutex_};
  const appointment made{when, ++last_appointment_};
  const auto place = later_.emplace(made, std::move(work)).first;
  if (place == later_.begin()) wake_.notify_all();  // whoever watches the clock is among them
  return made;
}

void crew::forget(const appointment& made) {
  task forgotten;  // what it holds is not destroyed under the mutex
  const std::scoped_lock lock{mutex_};
  if (const auto found = later_.find(made); found != later_.end()) {
    forgotten = std::move(found->second);
    later_.erase(found);
  }
}

void crew::let_another_watch() {
  if (later_.empty() || is_clock_watched_) return;
  if (idle_ > 0) {
    wake_.notify_one();
  } else if (threads_.size() < most_) {
    start_thread();
  }
}

void crew::work() {
  std::unique_lock lock{mutex_};
  for (;;) {
    if (auto begun = next()) {
      let_another_watch();
      lock.unlock();
      begun();
      begun = nullptr;  // what it holds is not destroyed under the mutex
      lock.lock();
    } else if (is_closed_) {
      return;
    } else {
      idle(lock);
    }
  }
}

crew::task crew::next() {
  task found;
  const auto first = later_.begin();
  if (first != later_.end() && first->first.first <= time_->now()) {
    found = std::move(first->second);
    later_.erase(first);
  } else if (!now_.empty()) {
    found = std::move(now_.front());
    now_.pop_front();
  }
  return found;
}

void crew::idle(std::unique_lock<std::mutex>& lock) {
  ++idle_;
  if (later_.empty() || is_clock_watched_) {
    wake_.wait(lock);
  } else {
    is_clock_watched_ = true;
    time_->wait_until(lock, wake_, later_.begin()->first.first);
    is_clock_watched_ = false;
  }
  --idle_;
}

void crew::close() {
  std::map<appointment, task> forgotten;  // what they hold is not destroyed under the mutex
  {
    const std::scoped_lock lock{mutex_};
    is_closed_ = true;
    forgotten.swap(later_);
    wake_.notify_all();
  }
  for (auto& thread : threads_) thread.join();
}

}  // namespace rowlock::detail
