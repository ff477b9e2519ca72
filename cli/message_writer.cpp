// Thread that writes lines.
#include "cli/message_writer.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <string_view>
#include <thread>
#include <utility>

#include "base/threads.hpp"
#include "rowlock/detail/checked_mutex.hpp"

namespace rowlock::cli {

namespace {

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // another process has made it non-blocking
      pollfd room{descriptor, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

struct message_writer::queue {
  detail::checked_mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> lines ROWLOCK_GUARDED_BY(mutex);
  std::size_t dropped ROWLOCK_GUARDED_BY(mutex) = 0;
  bool is_writing ROWLOCK_GUARDED_BY(mutex) = false;
  bool is_over ROWLOCK_GUARDED_BY(mutex) = false;

  [[nodiscard]] bool is_empty() const ROWLOCK_REQUIRES(mutex) {
    return lines.empty() && dropped == 0;
  }

  /// The thread of the writer.
  void write_to(int descriptor) {
    detail::checked_lock lock{mutex};
    for (;;) {
      while (is_empty() && !is_over) changed.wait(lock.native());
      if (is_empty()) return;
      std::string line;
      if (lines.empty()) {
        line =
            fmt::format("rowlock: {} messages were dropped: nothing has read the standard error\n",
                        std::exchange(dropped, 0));
      } else {
        line = std::move(lines.front());
        lines.pop_front();
      }
      is_writing = true;
      lock.unlock();
      write_all(descriptor, line);
      lock.lock();
      is_writing = false;
      changed.notify_all();
    }
  }
};

message_writer::message_writer(int descriptor) : queue_{std::make_shared<queue>()} {
  detail::start_thread("write messages", [this, descriptor] {
    std::thread{[waiting = queue_, descriptor] { waiting->write_to(descriptor); }}.detach();
  });
}

message_writer::~message_writer() {
  const detail::checked_lock lock{queue_->mutex};
  queue_->is_over = true;
  queue_->changed.notify_all();
}

void message_writer::write(std::string line) {
  const detail::checked_lock lock{queue_->mutex};
  // With some dropped, the count comes first: lines stay in their order.
  if (queue_->dropped > 0 || queue_->lines.size() == longest_queue) {
    ++queue_->dropped;
    return;
  }
  queue_->lines.push_back(std::move(line));
  queue_->changed.notify_all();
}

void message_writer::await_end(std::chrono::milliseconds limit) {
  detail::checked_lock lock{queue_->mutex};
  queue_->changed.wait_for(lock.native(), limit, [&waiting = *queue_] {
    waiting.mutex.assume_locked();
    return waiting.is_empty() && !waiting.is_writing;
  });
}

}  // namespace rowlock::cli
