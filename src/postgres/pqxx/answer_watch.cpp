// A watchdog for connections that get no answer.
#include "postgres/pqxx/answer_watch.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/threads.hpp"
#include "rowlock/error.hpp"

namespace rowlock::postgres {

answer_watch::answer_watch(std::chrono::milliseconds limit) : limit_{limit} {}

answer_watch::~answer_watch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock{mutex_};
    stopped_ = true;
  }
  wakeup_.notify_one();
  thread_.join();
}

answer_watch::connection::connection(answer_watch& by, int socket)
    : by_{by}, idle_(1), socket_{fcntl(socket, F_DUPFD_CLOEXEC, 0)} {  // NOLINT(*-vararg)
  if (socket_ == -1) {
    throw error{errc::unavailable,
                "the system gives us no file descriptor to watch a connection "
                "with, which could then hang: raise its limit of open files (" +
                    std::generic_category().message(errno) + ')'};
  }
  idle_.front().socket = socket_;
}

answer_watch::connection::~connection() { close(socket_); }

void answer_watch::connection::give_up() const noexcept { shutdown(socket_, SHUT_RDWR); }

answer_watch::watched answer_watch::connection::watch() { return watched{*this}; }

answer_watch::watched::watched(connection& on) : on_{on}, place_{on.idle_.begin()} {
  auto& by = on_.by_;
  const std::scoped_lock lock{by.mutex_};
  if (!by.thread_.joinable()) {
    detail::start_thread("end calls without an answer with",
                         [&by] { by.thread_ = std::thread{[&by] { by.run(); }}; });
  }
  place_->due = clock::now() + by.limit_;
  by.calls_.splice(by.calls_.end(), on_.idle_);
  if (by.is_idle_) {
    by.is_idle_ = false;
    by.wakeup_.notify_one();
  }
}

answer_watch::watched::~watched() {
  const std::scoped_lock lock{on_.by_.mutex_};
  on_.idle_.splice(on_.idle_.end(), on_.by_.calls_, place_);
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
