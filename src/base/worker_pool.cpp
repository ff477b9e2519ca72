// A pool of threads for blocking calls.
#include "base/worker_pool.hpp"

#include "base/threads.hpp"
#include "rowlock/error.hpp"

namespace rowlock::detail {

worker_pool::worker_pool(unsigned most, std::shared_ptr<time_source> time)
    : most_{most}, time_{std::move(time)} {}

void worker_pool::post(task work) {
  const checked_lock lock{mutex_};
  if (!is_closed_ && now_.size() >= idle_ && threads_.size() < most_) start_worker();
  now_.push_back(std::move(work));
  wake_.notify_one();
}

void worker_pool::start_worker() {
  try {
    start_thread("make calls that block", [this] {
      mutex_.assume_locked();
      threads_.emplace_back([this] { work(); });
    });
  } catch (const error&) {
    if (threads_.empty()) throw;
  }
}

worker_pool::timer worker_pool::post_at(boot_clock::time_point when, task work) {
  const checked_lock lock{mutex_};
  if (is_closed_) return {when, 0};  // dropped, as `close` drops timers
  start_thread("watch the clock", [this] {
    mutex_.assume_locked();
    if (!watcher_.joinable()) watcher_ = std::thread{[this] { watch(); }};
  });
  const timer made{when, ++last_timer_};
  const auto place = later_.emplace(made, std::move(work)).first;
  if (place == later_.begin()) first_changed_.notify_one();
  return made;
}

void worker_pool::cancel(const timer& made) {
  task forgotten;  // destroyed after the mutex is unlocked
  const checked_lock lock{mutex_};
  if (const auto found = later_.find(made); found != later_.end()) {
    forgotten = std::move(found->second);
    later_.erase(found);
  }
}

void worker_pool::do_unlocked(task begun) {
  mutex_.unlock();
  begun();
  begun = nullptr;  // destroyed before the mutex is locked again
  mutex_.lock();
}

void worker_pool::work() {
  checked_lock lock{mutex_};
  for (;;) {
    if (!now_.empty()) {
      auto begun = std::move(now_.front());
      now_.pop_front();
      do_unlocked(std::move(begun));
    } else if (is_closed_) {
      return;
    } else {
      ++idle_;
      wake_.wait(lock.native());
      --idle_;
    }
  }
}

void worker_pool::watch() {
  checked_lock lock{mutex_};
  while (!is_closed_) {
    const auto first = later_.begin();
    if (first == later_.end()) {
      first_changed_.wait(lock.native());
    } else if (const auto when = first->first.first; time_->now() < when) {
      time_->wait_until(lock.native(), first_changed_, when);
    } else {
      auto begun = std::move(first->second);
      later_.erase(first);
      do_unlocked(std::move(begun));
    }
  }
}

void worker_pool::close() {
  std::map<timer, task> forgotten;  // destroyed after the mutex is unlocked
  std::vector<std::thread> ended;
  std::thread watcher;
  {
    const checked_lock lock{mutex_};
    is_closed_ = true;
    forgotten.swap(later_);
    ended.swap(threads_);
    watcher.swap(watcher_);
    wake_.notify_all();
    first_changed_.notify_all();
  }
  if (watcher.joinable()) watcher.join();
  for (auto& thread : ended) thread.join();
}

}  // namespace rowlock::detail
