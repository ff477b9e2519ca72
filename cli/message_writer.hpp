// Writes lines in a thread of its own, so that a reader that does not read delays nothing else.
#ifndef ROWLOCK_CLI_MESSAGE_WRITER_HPP
#define ROWLOCK_CLI_MESSAGE_WRITER_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace rowlock::cli {

/// A pipe that no process reads, or a terminal after Ctrl-S, blocks a write for any time. Only the
/// writer's thread waits there.
///
/// Thread-safety: all members may be called from any thread.
class message_writer {
 public:
  /// The most lines that wait to be written. Those that come then are dropped; how many is written
  /// once there is room again.
  static constexpr std::size_t longest_queue = 100;

  /// `descriptor` must stay open as long as the process runs. Throws `error` (unavailable) when the
  /// system lets us start no thread.
  explicit message_writer(int descriptor);
  message_writer(const message_writer&) = delete;
  message_writer& operator=(const message_writer&) = delete;
  /// Waits for nothing: the thread ends once it has written what there is, or with the process.
  ~message_writer();

  /// In one piece. Does not wait. What cannot be written, to a closed pipe for instance, is lost.
  void write(std::string line);

  /// Returns once all is written, after `limit` at the latest.
  void await_end(std::chrono::milliseconds limit);

 private:
  struct queue;

  static void run(queue& waiting, int descriptor);

  std::shared_ptr<queue> queue_;  // with the thread, which may be in a write for ever
};

}  // namespace rowlock::cli

#endif
