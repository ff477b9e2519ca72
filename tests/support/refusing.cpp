// rowlock_refusing forks|threads COMMAND ARGUMENT...: runs it where the system starts no process,
// or no thread, for it. The limit of processes would do the same, but binds no administrator.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  constexpr unsigned refuse = SECCOMP_RET_ERRNO | EAGAIN;
  constexpr unsigned allow = SECCOMP_RET_ALLOW;
  const bool are_threads_refused = std::string_view{argv[1]} == "threads";
  // The last two numbers of a jump are how many steps to leave out, if so and if not. `clone3` has
  // its flags in memory, where no filter can look: without it, the C library calls `clone`.
  std::array<sock_filter, 9> steps{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 2, 3),
      BPF_STMT(BPF_RET | BPF_K, allow),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, are_threads_refused ? refuse : allow),
      BPF_STMT(BPF_RET | BPF_K, are_threads_refused ? allow : refuse),
  }};
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::perror("seccomp");
    return 1;
  }
  execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 1;
}
