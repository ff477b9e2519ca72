// Thread that writes lines.
#include "cli/message_writer.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "base/threads.hpp"

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
  std::mutex mutex;
  // All below are guarded by mutex.
  std::condition_variable changed;
  std::deque<std::string> lines;
  std::size_t dropped = 0;
  bool is_writing = false;
  bool is_over = false;

  [[nodiscard]] bool is_empty() const { return lines.empty() && dropped == 0; }
};

message_writer::message_writer(int descriptor) : queue_{std::make_shared<queue>()} {
  detail::start_thread("write messages", [this, descriptor] {
    std::thread{[waiting = queue_, descriptor] { run(*waiting, descriptor); }}.detach();
  });
}

message_writer::~message_writer() {
  const std::scoped_lock lock{queue_->mutex};
  queue_->is_over = true;
  queue_->changed.notify_all();
}

void message_writer::write(std::string line) {
  const std::scoped_lock lock{queue_->mutex};
  // With some dropped, the count comes first: lines stay in their order.
  if (queue_->dropped > 0 || queue_->lines.size() == longest_queue) {
    ++queue_->dropped;
    return;
  }
  queue_->lines.push_back(std::move(line));
  queue_->changed.notify_all();
}

void message_writer::await_end(std::chrono::milliseconds limit) {
  std::unique_lock lock{queue_->mutex};
  queue_->changed.wait_for(lock, limit,
                           [this] { return queue_->is_empty() && !queue_->is_writing; });
}

void message_writer::run(queue& waiting, int descriptor) {
  std::unique_lock lock{waiting.mutex};
  for (;;) {
    waiting.changed.wait(lock, [&] { return !waiting.is_empty() || waiting.is_over; });
    if (waiting.is_empty()) return;
    std::string line;
    if (waiting.lines.empty()) {
      line = "rowlock: " + std::to_string(std::exchange(waiting.dropped, 0)) +
             " messages were dropped: nothing has read the standard error\n";
    } else {
      line = std::move(waiting.lines.front());
      waiting.lines.pop_front();
    }
    waiting.is_writing = true;
    lock.unlock();
    write_all(descriptor, line);
    lock.lock();
    waiting.is_writing = false;
    waiting.changed.notify_all();
  }
}

}  // namespace rowlock::cli
