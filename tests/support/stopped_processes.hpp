// A server that stands still.
#ifndef ROWLOCK_TESTS_SUPPORT_STOPPED_PROCESSES_HPP
#define ROWLOCK_TESTS_SUPPORT_STOPPED_PROCESSES_HPP

#include <sys/types.h>

#include <vector>

namespace rowlock::tests {

/// They go on when this object ends.
class stopped_processes {
 public:
  /// `first`, which must run, and its children. Throws when it cannot be stopped.
  explicit stopped_processes(pid_t first);
  stopped_processes(const stopped_processes&) = delete;
  stopped_processes& operator=(const stopped_processes&) = delete;
  ~stopped_processes();

 private:
  std::vector<pid_t> stopped_;
};

}  // namespace rowlock::tests

#endif
