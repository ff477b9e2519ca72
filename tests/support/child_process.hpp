// A program that a test starts, talks to line by line, and never leaves behind.
#ifndef ROWLOCK_TESTS_SUPPORT_CHILD_PROCESS_HPP
#define ROWLOCK_TESTS_SUPPORT_CHILD_PROCESS_HPP

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/patience.hpp"

namespace rowlock::tests {

/// It ends with the test program, however that ends: see group_guard.hpp.
///
/// Thread-safety: one thread at a time.
class child_process {
 public:
  /// Starts `command`, found by PATH, with `environment` added to ours. Throws `std::system_error`
  /// when it cannot be run.
  explicit child_process(const std::vector<std::string>& command,
                         const std::map<std::string, std::string>& environment = {});
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  /// Kills it and what it started, as far as that still runs in its process group.
  ~child_process();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// The next line of its output, without the line's end; none when the output has ended. Throws
  /// when neither comes in time.
  std::optional<std::string> read_line(std::chrono::milliseconds within = patience);
  /// What is left of its output, up to its end.
  std::string read_rest(std::chrono::milliseconds within = patience);
  /// What it has written to its standard error so far.
  [[nodiscard]] std::string errors() const;

  void write_line(const std::string& line);
  void close_input();
  void send_signal(int number) const;
  [[nodiscard]] bool has_ended() const;

  /// Its exit code, or 128 + n when signal n ended it, as a shell says it. Throws when it does not
  /// end in time.
  int wait(std::chrono::milliseconds within = patience);

 private:
  /// Reads once into `buffer_`; false at the end of the output.
  bool read_more(std::chrono::steady_clock::time_point until);

  std::string name_;
  pid_t pid_ = -1;
  int process_ = -1;  // a pidfd
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::string buffer_;
  std::optional<int> status_;
};

}  // namespace rowlock::tests

#endif
