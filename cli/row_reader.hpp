// Reads of rows in the background.
#ifndef ROWLOCK_CLI_ROW_READER_HPP
#define ROWLOCK_CLI_ROW_READER_HPP

#include <sys/eventfd.h>

#include <exception>
#include <future>
#include <optional>
#include <vector>

#include "base/threads.hpp"
#include "cli/file_descriptor.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// Lists rows in a thread of its own, one call at a time: a database that does not answer must not
/// keep a program from its keys and signals. The destructor waits for a call that is running.
///
/// Thread-safety: one thread at a time.
class row_reader {
 public:
  struct answer {
    std::vector<row_state> rows;
    std::exception_ptr fault;  // set if there are no rows
  };

  explicit row_reader(store& rows) : rows_{rows} {}

  /// No call may be running. Throws `error` (unavailable) when the system cannot start a thread.
  void start(const list_request& request) {
    detail::start_thread("read rows", [&] {
      call_ = std::async(std::launch::async, [this, request] { return result_of(request); });
    });
  }
  [[nodiscard]] bool is_running() const noexcept { return call_.valid(); }
  /// Readable when there is an answer.
  [[nodiscard]] int descriptor() const noexcept { return answered_.number(); }
  /// The answer to the last call, once; none if it has not come yet.
  std::optional<answer> take() {
    eventfd_t count = 0;
    if (eventfd_read(answered_.number(), &count) != 0) return {};
    return call_.get();
  }

 private:
  answer result_of(const list_request& request) {
    answer given;
    try {
      given.rows = rows_.list(request);
    } catch (...) {
      given.fault = std::current_exception();
    }
    eventfd_write(answered_.number(), 1);
    return given;
  }

  store& rows_;
  file_descriptor answered_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"};
  std::future<answer> call_;  // last: it uses all of the above
};

}  // namespace rowlock::cli

#endif
