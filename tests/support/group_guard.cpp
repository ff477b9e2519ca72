// The end of child processes when their test program is killed.
#include "support/group_guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace rowlock::tests {

namespace {

/// In the guard, a copy of a program that may have had threads: it calls the kernel alone.
class group_list {
 public:
  /// `change` is the number of a group, or, below zero, of one to forget.
  void change(pid_t change) {
    if (change > 0) {
      if (count_ < groups_.size()) groups_.at(count_++) = change;
    } else {
      forget(-change);
    }
  }

  void send(int number) {
    for (std::size_t at = 0; at < count_; ++at) kill(-groups_.at(at), number);
  }

  /// Forgets groups without processes.
  [[nodiscard]] bool is_gone() {
    for (std::size_t at = count_; at > 0; --at) {
      const pid_t group = groups_.at(at - 1);
      if (kill(-group, 0) == -1 && errno == ESRCH) forget(group);
    }
    return count_ == 0;
  }

 private:
  void forget(pid_t group) {
    auto* const end = groups_.begin() + count_;
    auto* const found = std::find(groups_.begin(), end, group);
    if (found == end) return;
    *found = *(end - 1);
    --count_;
  }

  std::array<pid_t, 1024> groups_{};
  std::size_t count_ = 0;
};

[[noreturn]] void stand_guard(int changes) {
  // What the program has open must not stay open: its end has to be seen on pipes and connections.
  dup2(changes, STDIN_FILENO);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  syscall(SYS_close_range, STDERR_FILENO + 1, std::numeric_limits<unsigned>::max(), 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_IGN);

  group_list groups;
  for (;;) {
    pid_t change = 0;
    const auto received = recv(STDIN_FILENO, &change, sizeof change, 0);
    if (received == -1 && errno == EINTR) continue;
    if (received != sizeof change) break;  // no process has the other end any more
    groups.change(change);
  }
  constexpr int pause = 20;  // milliseconds
  constexpr int until_killed = 5000 / pause;
  groups.send(SIGTERM);
  for (int pauses = 0; !groups.is_gone(); ++pauses) {
    if (pauses >= until_killed) groups.send(SIGKILL);
    poll(nullptr, 0, pause);
  }
  _exit(0);
}

/// The end of the socket to which changes are sent; the kernel closes it with the program.
int start_guard() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error{errno, std::generic_category(), "socketpair"};
  }
  const pid_t parent = fork();
  if (parent == -1) throw std::system_error{errno, std::generic_category(), "fork"};
  if (parent == 0) {
    // In a session of its own, and no child of the program, which may wait for any child.
    setsid();
    if (fork() == 0) stand_guard(ends[1]);
    _exit(0);
  }
  while (waitpid(parent, nullptr, 0) == -1 && errno == EINTR) {
  }
  close(ends[1]);
  return ends[0];
}

void send_change(pid_t change) {
  static const int guard = start_guard();
  if (::send(guard, &change, sizeof change, MSG_NOSIGNAL) != sizeof change) {
    throw std::runtime_error{"the process that guards the children of tests has ended"};
  }
}

}  // namespace

void guard_group(pid_t group) { send_change(group); }

void forget_group(pid_t group) { send_change(-group); }

}  // namespace rowlock::tests
