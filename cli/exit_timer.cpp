// Thread that ends the process at its time limit, and thread that waits for signals.
#include "cli/exit_timer.hpp"

#include <poll.h>

#include <array>
#include <utility>

#include "base/threads.hpp"
#include "cli/exit_codes.hpp"
#include "cli/say.hpp"

namespace rowlock::cli {

exit_timer::exit_timer(std::string message) : message_{std::move(message)} {
  detail::start_thread("watch the time", [this] {
    thread_ = std::jthread{[this](const std::stop_token& over) { run(over); }};
  });
}

void exit_timer::set(int code, std::chrono::milliseconds after) {
  change(clock::now() + after, code);
}

void exit_timer::clear() { change(clock::time_point::max(), 0); }

void exit_timer::change(clock::time_point due, int code) {
  const detail::checked_lock lock{mutex_};
  due_ = due;
  code_ = code;
  changed_.notify_one();
}

void exit_timer::run(const std::stop_token& over) {
  detail::checked_lock lock{mutex_};
  while (!over.stop_requested()) {
    const auto due = due_;
    const auto is_changed = [&] {
      mutex_.assume_locked();
      return due_ != due;
    };
    if (due == clock::time_point::max()) {
      changed_.wait(lock.native(), over, is_changed);
    } else if (!changed_.wait_until(lock.native(), over, due, is_changed) &&
               !over.stop_requested()) {
      say(message_);
      end_process(code_);
    }
  }
}

interruptible_wait::interruptible_wait(signal_queue& signals, exit_timer& timer,
                                       std::stop_source stop, std::optional<int> code)
    : signals_{signals}, timer_{timer}, stop_{std::move(stop)}, code_{code} {
  detail::start_thread("listen for signals",
                       [this] { listener_ = std::thread{[this] { listen(); }}; });
}

std::optional<int> interruptible_wait::end() {
  done_.raise();
  if (listener_.joinable()) listener_.join();
  return came_;
}

void interruptible_wait::listen() {
  std::array<pollfd, 2> events{
      {{signals_.descriptor(), POLLIN, 0}, {done_.descriptor(), POLLIN, 0}}};
  for (;;) {
    poll(events.data(), events.size(), -1);
    while (const auto came = signals_.next()) {
      if (came->ssi_signo == SIGCHLD) continue;  // of a process that existed before this one
      came_ = static_cast<int>(came->ssi_signo);
      timer_.set(code_.value_or(exit_code::ended_by_signal(*came_)));
      stop_.request_stop();
      return;
    }
    if (events[1].revents != 0) return;
  }
}

}  // namespace rowlock::cli
