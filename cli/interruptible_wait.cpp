// Thread that reads signals while another thread waits for the lock.
#include "cli/interruptible_wait.hpp"

#include <poll.h>

#include <array>
#include <utility>

#include "base/threads.hpp"
#include "cli/exit_codes.hpp"

namespace rowlock::cli {

interruptible_wait::interruptible_wait(signal_queue& signals, exit_timer& timer,
                                       std::stop_source stop, std::optional<int> code)
    : signals_{signals}, timer_{timer}, stop_{std::move(stop)}, code_{code} {
  detail::start_thread("listen for signals",
                       [this] { listener_ = std::thread{[this] { listen(); }}; });
}

interruptible_wait::~interruptible_wait() { end(); }

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
