// One worker as a process of its own.
#ifndef ROWLOCK_EXAMPLE_WORKER_PROCESS_HPP
#define ROWLOCK_EXAMPLE_WORKER_PROCESS_HPP

#include <sys/types.h>

#include <functional>
#include <string>

namespace settlement {

/// Thread-safety: one thread at a time.
class worker_process {
 public:
  /// Forks; `body` runs in the child, whose exit code it returns. Nobody may have a database open
  /// at this moment: connections do not survive a fork.
  worker_process(std::string name, const std::function<int()>& body);
  worker_process(worker_process&& other) noexcept;
  worker_process& operator=(worker_process&&) = delete;
  /// Kills a child that is still there.
  ~worker_process();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Looks, without a wait.
  [[nodiscard]] bool is_running();

  /// SIGSTOP; when it returns true not one instruction is executed until `resume`. False: the child
  /// ended before.
  [[nodiscard]] bool stop();
  void resume() const noexcept;
  /// SIGKILL, and waits for the end.
  void kill() noexcept;

  /// True when it ended by itself, with code 0.
  [[nodiscard]] bool has_succeeded() const noexcept;
  /// How it ended, for people.
  [[nodiscard]] std::string ending() const;

 private:
  std::string name_;
  pid_t pid_;
  bool is_over_ = false;
  int status_ = 0;
};

}  // namespace settlement

#endif
