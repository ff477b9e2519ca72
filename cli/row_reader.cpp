// Reads of rows in a thread.
#include "cli/row_reader.hpp"

#include <sys/eventfd.h>

#include <utility>

#include "base/threads.hpp"

namespace rowlock::cli {

row_reader::row_reader(store& rows)
    : rows_{rows}, answered_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"} {
  detail::start_thread("read rows", [this] { thread_ = std::thread{[this] { run(); }}; });
}

row_reader::~row_reader() {
  {
    const std::scoped_lock lock{mutex_};
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void row_reader::start(const list_request& request) {
  is_running_ = true;
  {
    const std::scoped_lock lock{mutex_};
    request_ = request;
  }
  changed_.notify_one();
}

std::optional<row_reader::answer> row_reader::take() {
  eventfd_t count = 0;
  (void)eventfd_read(answered_.number(), &count);
  const std::scoped_lock lock{mutex_};
  if (answer_) is_running_ = false;
  return std::exchange(answer_, std::nullopt);
}

void row_reader::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return is_over_ || request_; });
    if (is_over_) return;
    const auto request = *std::exchange(request_, std::nullopt);
    lock.unlock();
    answer given;
    try {
      given.rows = rows_.list(request);
    } catch (...) {
      given.fault = std::current_exception();
    }
    lock.lock();
    answer_ = std::move(given);
    eventfd_write(answered_.number(), 1);
  }
}

}  // namespace rowlock::cli
