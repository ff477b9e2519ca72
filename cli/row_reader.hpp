// Reads of rows in the background.
#ifndef ROWLOCK_CLI_ROW_READER_HPP
#define ROWLOCK_CLI_ROW_READER_HPP

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cli/file_descriptor.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::cli {

/// Lists rows in a thread of its own, one call at a time: a database that does not answer must not
/// keep a program from its keys and signals.
///
/// Thread-safety: one thread at a time.
class row_reader {
 public:
  struct answer {
    std::vector<row_state> rows;
    std::exception_ptr fault;  // set if there are no rows
  };

  /// Throws `error` (unavailable) when the system cannot start a thread.
  explicit row_reader(store& rows);
  row_reader(const row_reader&) = delete;
  row_reader& operator=(const row_reader&) = delete;
  /// Waits for a call that is running.
  ~row_reader();

  /// No call may be running.
  void start(const list_request& request);
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }
  /// Readable when there is an answer.
  [[nodiscard]] int descriptor() const noexcept { return answered_.number(); }
  /// The answer to the last call, once; none if it has not come yet.
  std::optional<answer> take();

 private:
  void run();

  store& rows_;
  file_descriptor answered_;
  bool is_running_ = false;

  std::mutex mutex_;
  // All below are guarded by mutex_.
  std::condition_variable changed_;
  std::optional<list_request> request_;
  std::optional<answer> answer_;
  bool is_over_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace rowlock::cli

#endif
