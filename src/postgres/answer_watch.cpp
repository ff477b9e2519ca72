// Gives up connections on which no answer comes.
#include "postgres/answer_watch.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rowlock/error.hpp"

namespace rowlock::postgres {

answer_watch::answer_watch(std::chrono::milliseconds limit) : limit_{limit} {
  if (limit_ <= std::chrono::milliseconds::zero()) {
    throw error{errc::misuse, "no time for an answer: set answer_timeout above zero"};
  }
}

answer_watch::~answer_watch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock{mutex_};
    stopped_ = true;
  }
  wakeup_.notify_one();
  thread_.join();
}

answer_watch::watched answer_watch::watch(int socket) {
  const std::scoped_lock lock{mutex_};
  if (!thread_.joinable()) thread_ = std::thread{[this] { run(); }};
  const auto place = calls_.insert(
      calls_.end(), {fcntl(socket, F_DUPFD_CLOEXEC, 0), clock::now() + limit_});  // NOLINT
  if (is_idle_) {
    is_idle_ = false;
    wakeup_.notify_one();
  }
  return {*this, place};
}

answer_watch::watched::~watched() {
  const std::scoped_lock lock{by_.mutex_};
  close(place_->socket);
  by_.calls_.erase(place_);
}

void answer_watch::run() {
  std::unique_lock lock{mutex_};
  while (!stopped_) {
    const auto now = clock::now();
    auto next = clock::time_point::max();
    for (const auto& each : calls_) {
      if (each.due > now) {
        next = each.due;
        break;
      }
      shutdown(each.socket, SHUT_RDWR);
    }
    if (next != clock::time_point::max()) {
      wakeup_.wait_until(lock, next, [this] { return stopped_; });
    } else {
      is_idle_ = true;
      wakeup_.wait(lock, [this] { return stopped_ || !is_idle_; });
    }
  }
}

}  // namespace rowlock::postgres
