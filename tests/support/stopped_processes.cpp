// A server that stands still.
#include "support/stopped_processes.hpp"

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <string>

namespace rowlock::tests {

stopped_processes::stopped_processes(pid_t first) {
  if (first == 0 || kill(first, SIGSTOP) != 0) {
    throw std::runtime_error{"the server cannot be stopped"};
  }
  stopped_.push_back(first);  // and starts no others any more
  const auto id = std::to_string(first);
  std::ifstream children{"/proc/" + id + "/task/" + id + "/children"};
  for (pid_t child = 0; children >> child;) {
    if (kill(child, SIGSTOP) == 0) stopped_.push_back(child);
  }
}

stopped_processes::~stopped_processes() {
  for (const auto process : stopped_) kill(process, SIGCONT);
}

}  // namespace rowlock::tests
