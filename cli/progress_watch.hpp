// Signs that a command gets on.
#ifndef ROWLOCK_CLI_PROGRESS_WATCH_HPP
#define ROWLOCK_CLI_PROGRESS_WATCH_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "cli/child_process.hpp"
#include "cli/file_descriptor.hpp"

namespace rowlock::cli {

struct progress_options {
  std::chrono::milliseconds within;
  /// Its changes are the sign; none: the command's output is.
  std::optional<std::string> file;
};

/// Copies what comes out of a pipe to a descriptor of this process, and reports each piece.
///
/// Thread-safety: one thread at a time.
class output_relay {
 public:
  /// Throws `error` (unavailable).
  output_relay(int target, const std::function<void()>& got_on);
  output_relay(const output_relay&) = delete;
  output_relay& operator=(const output_relay&) = delete;
  /// Copies what is left in the pipe, unless the reader takes nothing for two seconds.
  ~output_relay();

  /// The end for the command.
  [[nodiscard]] int input() const noexcept { return input_.number(); }

 private:
  void run();
  /// How many bytes; zero once there is none to copy, or no reader.
  std::size_t copy_some();
  [[nodiscard]] bool await_reader() const;

  const int target_;
  const std::function<void()>& got_on_;
  file_descriptor output_;
  file_descriptor input_;
  wakeup ended_;
  std::thread thread_;
};

/// Calls `got_on` for each sign: output or a change of the file, and `WATCHDOG=1` sent to
/// NOTIFY_SOCKET (sd_notify(3)). What comes there is passed on to the socket of that name which
/// this process was given, if any.
///
/// Thread-safety: one thread at a time. `got_on` is called by threads of its own.
class progress_watch {
 public:
  /// Gives `watched` its output and its environment. Throws `error` (unavailable).
  progress_watch(progress_options options, std::function<void()> got_on, command& watched);
  progress_watch(const progress_watch&) = delete;
  progress_watch& operator=(const progress_watch&) = delete;
  ~progress_watch();

 private:
  void run();
  void receive() const;
  void look_at_file();

  const progress_options options_;
  const std::function<void()> got_on_;
  file_descriptor socket_;
  std::string seen_;  // state of the file
  wakeup ended_;
  std::thread thread_;
  std::optional<output_relay> output_;
  std::optional<output_relay> errors_;
};

}  // namespace rowlock::cli

#endif
