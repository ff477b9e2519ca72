// A terminal with a command in its foreground.
#include "cli/terminal.hpp"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "support/group_guard.hpp"

namespace rowlock::tests {

terminal::terminal(const words& command) : terminal{command, 0, 0} {}

terminal::terminal(const words& command, unsigned short lines, unsigned short columns) {
  const winsize size{lines, columns, 0, 0};
  auto texts = command;
  std::vector<char*> arguments;
  for (auto& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  pid_ = forkpty(&screen_, nullptr, nullptr, &size);
  if (pid_ == 0) {
    // A shell ignores them in what it starts in the background, and so what started us may.
    for (const int number : {SIGINT, SIGQUIT}) signal(number, SIG_DFL);
    setenv("TERM", "xterm", 1);  // NOLINT(concurrency-mt-unsafe): a child with one thread
    execvp(arguments.front(), arguments.data());
    _exit(127);
  }
  if (pid_ == -1) throw std::runtime_error{"no terminal to be had"};
  guard_group(pid_);
}

terminal::~terminal() {
  if (pid_ != -1) {
    kill(pid_, SIGKILL);
    forget_group(pid_);
    waitpid(pid_, nullptr, 0);
  }
  hang_up();
}

void terminal::type(const std::string& keys) const {
  if (write(screen_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) {
    throw std::runtime_error{"the terminal takes no keys"};
  }
}

std::string terminal::read_until(const std::string& end) {
  for (;;) {
    if (const auto found = unread_.find(end); found != std::string::npos) {
      auto shown = unread_.substr(0, found + end.size());
      unread_.erase(0, shown.size());
      return shown;
    }
    if (!read_more()) throw std::runtime_error{"the terminal shows no '" + end + "': " + unread_};
  }
}

std::string terminal::read_rest() {
  while (read_more()) {
  }
  return std::exchange(unread_, {});
}

bool terminal::read_more() {
  pollfd waiting{screen_, POLLIN, 0};
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience).count();
  std::array<char, 4096> chunk{};
  ssize_t received = 0;
  if (poll(&waiting, 1, static_cast<int>(limit)) > 0) {
    received = read(screen_, chunk.data(), chunk.size());
  }
  if (received <= 0) return false;
  unread_.append(chunk.data(), static_cast<std::size_t>(received));
  return true;
}

void terminal::resize(unsigned short lines, unsigned short columns) const {
  const winsize size{lines, columns, 0, 0};
  if (ioctl(screen_, TIOCSWINSZ, &size) != 0) throw std::runtime_error{"it keeps its size"};
}

int terminal::wait() {
  int status = 0;
  if (waitpid(pid_, &status, 0) != pid_) throw std::runtime_error{"the command is gone"};
  forget_group(std::exchange(pid_, -1));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void terminal::send_signal(int number) const {
  if (kill(pid_, number) != 0) throw std::runtime_error{"the command of the terminal is gone"};
}

void terminal::stop_command() const {
  send_signal(SIGSTOP);
  await_stop();
}

void terminal::await_stop() const {
  if (waitpid(pid_, nullptr, WUNTRACED) != pid_) throw std::runtime_error{"it does not stop"};
}

void terminal::hang_up() {
  if (screen_ != -1) close(std::exchange(screen_, -1));
}

}  // namespace rowlock::tests
