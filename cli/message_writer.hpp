// Writer of lines in a thread of its own, so that a blocked reader delays nothing else.
#ifndef ROWLOCK_CLI_MESSAGE_WRITER_HPP
#define ROWLOCK_CLI_MESSAGE_WRITER_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace rowlock::cli {

/// A pipe that no process reads, or a terminal after Ctrl-S, can block a write for any time. Only
/// the writer's thread waits there.
///
/// Thread-safety: all members may be called from any thread.
class message_writer {
 public:
  /// The most lines in the queue. Further lines are dropped; their number is written once the queue
  /// has space again.
  static constexpr std::size_t longest_queue = 100;

  /// `descriptor` must stay open as long as the process runs. Throws `error` (unavailable) when the
  /// system cannot start a thread.
  explicit message_writer(int descriptor);
  message_writer(const message_writer&) = delete;
  message_writer& operator=(const message_writer&) = delete;
  /// Waits for nothing: the thread ends once it has written the queue, or with the process.
  ~message_writer();

  /// In one piece. Does not wait. A line that cannot be written, for instance to a closed pipe, is
  /// lost.
  void write(std::string line);

  /// Returns once all is written, after `limit` at the latest.
  void await_end(std::chrono::milliseconds limit);

 private:
  struct queue;

  std::shared_ptr<queue> queue_;  // shared with the thread, which may block in a write for ever
};

}  // namespace rowlock::cli

#endif
