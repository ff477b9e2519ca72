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
  const auto is_back = [&] {
    const auto now = process();
    return now != 0 && now != crashed;
  };
  await_that(is_back, {}, [&] { return "the server is back: " + supervisor_.errors(); });
}

}  // namespace rowlock::tests
