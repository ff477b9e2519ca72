// A MariaDB server of a test's own, to be crashed, or to be started with options.
#include "support/own_mariadb.hpp"

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "support/mariadb_line.hpp"

namespace rowlock::tests {

namespace {

pid_t server_process(const std::string& url) {
  std::ifstream file{mariadb_line{url}.value("select @@pid_file")};
  pid_t found = 0;
  if (!(file >> found)) throw std::runtime_error{"the server's process is not known"};
  return found;
}

/// None while it does not serve.
pid_t server_process_if_up(const std::string& url) {
  try {
    return server_process(url);
  } catch (const mariadb_error&) {
    return 0;
  }
}

// The command that the server is there for says where it is, and lasts as long as its input.
std::vector<std::string> supervisor(const std::vector<std::string>& options) {
  std::vector<std::string> command{ROWLOCK_THROWAWAY_MARIADB, "run", "--restart"};
  for (const auto& option : options) command.insert(command.end(), {"--option", option});
  command.insert(command.end(), {"--", "sh", "-c", "echo \"$ROWLOCK_TEST_MARIADB\"; exec cat"});
  return command;
}

}  // namespace

own_mariadb::own_mariadb(const std::vector<std::string>& options)
    : supervisor_{supervisor(options)} {
  const auto told = supervisor_.read_line();
  if (!told) throw std::runtime_error{"no server of our own: " + supervisor_.errors()};
  url_ = *told;
}

own_mariadb::~own_mariadb() {
  try {
    supervisor_.close_input();
    supervisor_.wait();
  } catch (const std::exception& thrown) {
    std::cerr << "a server stays behind: " << thrown.what() << '\n';
  }
}

void own_mariadb::crash() const {
  const auto crashed = server_process(url_);
  if (kill(crashed, SIGKILL) != 0) throw std::runtime_error{"the server cannot be crashed"};
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto now = server_process_if_up(url_);
    if (now != 0 && now != crashed) return;
    if (std::chrono::steady_clock::now() > until) {
      throw std::runtime_error{"the server does not come back: " + supervisor_.errors()};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

}  // namespace rowlock::tests
