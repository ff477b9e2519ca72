// Time limit for the end of the process.
#include "cli/exit_timer.hpp"

#include <utility>

#include "base/threads.hpp"
#include "cli/say.hpp"

namespace rowlock::cli {

namespace {

using clock = std::chrono::steady_clock;

}  // namespace

exit_timer::exit_timer(std::string message) : message_{std::move(message)} {
  detail::start_thread("watch the time", [this] { thread_ = std::thread{[this] { run(); }}; });
}

exit_timer::~exit_timer() {
  {
    const std::scoped_lock lock{mutex_};
    is_over_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void exit_timer::set(int code, std::chrono::milliseconds after) {
  const std::scoped_lock lock{mutex_};
  code_ = code;
  due_ = clock::now() + after;
  changed_.notify_one();
}

void exit_timer::clear() {
  const std::scoped_lock lock{mutex_};
  due_ = clock::time_point::max();
}

void exit_timer::run() {
  std::unique_lock lock{mutex_};
  while (!is_over_) {
    if (due_ == clock::time_point::max()) {
      changed_.wait(lock);
    } else if (clock::now() < due_) {
      changed_.wait_until(lock, due_);
    } else {
      say(message_);
      end_process(code_);
    }
  }
}

}  // namespace rowlock::cli
