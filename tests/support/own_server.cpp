// A server that a script of script/support runs for a test, and starts again when it is crashed.
#include "support/own_server.hpp"

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

// The command that the server is there for says where it is, and lasts as long as its input.
std::vector<std::string> supervisor(const std::string& script,
                                    const std::vector<std::string>& options,
                                    const std::string& variable) {
  std::vector<std::string> command{script, "run", "--restart"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"--", "sh", "-c", "echo \"$" + variable + "\"; exec cat"});
  return command;
}

}  // namespace

own_server::own_server(const std::string& script, const std::vector<std::string>& options,
                       const std::string& variable)
    : supervisor_{supervisor(script, options, variable)} {
  const auto line = supervisor_.read_line();
  if (!line) throw std::runtime_error{"no server of our own: " + supervisor_.errors()};
  url_ = *line;
}

own_server::~own_server() {
  try {
    supervisor_.close_input();
    supervisor_.wait();
  } catch (const std::exception& thrown) {
    std::cerr << "a server stays behind: " << thrown.what() << '\n';
  }
}

void own_server::crash(int signal, const std::function<pid_t()>& process) const {
  const auto crashed = process();
  if (crashed == 0) throw std::runtime_error{"the server's process is not known"};
  if (kill(crashed, signal) != 0) throw std::runtime_error{"the server cannot be crashed"};
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto now = process();
    if (now != 0 && now != crashed) return;
    if (std::chrono::steady_clock::now() > until) {
      throw std::runtime_error{"the server does not come back: " + supervisor_.errors()};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

}  // namespace rowlock::tests
