// Leaves a process in its group that has ended and is not reaped, and moves to a group of its own.
// Says `started` then, and ends with its input, of which it reads nothing.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

int main() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t ended{};
  if (child == -1 || waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) != 0 ||
      setpgid(0, 0) != 0) {
    return 1;
  }
  std::cout << "started" << std::endl;
  pollfd input{STDIN_FILENO, 0, 0};
  while (poll(&input, 1, -1) == -1 && errno == EINTR) {
  }
}
