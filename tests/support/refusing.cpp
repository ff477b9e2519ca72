// rowlock_refusing forks|threads|signalfds COMMAND ARGUMENT...: runs it where the system starts no
// process, or no thread, or opens no descriptor for signals, for it. The limit of processes binds
// no administrator, and that of open files the loader of libraries first.
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

namespace {

constexpr unsigned allow = SECCOMP_RET_ALLOW;

/// False, with errno, where the kernel does not take it.
template <std::size_t Size>
bool filter_by(std::array<sock_filter, Size> steps) {
  const sock_fprog program{Size, steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The last two numbers of a jump are how many steps to leave out, if so and if not.
bool refuse_signalfds() {
  return filter_by(std::array<sock_filter, 4>{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_signalfd4, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
      BPF_STMT(BPF_RET | BPF_K, allow),
  }});
}

bool refuse(bool are_threads_refused) {
  constexpr unsigned refuse = SECCOMP_RET_ERRNO | EAGAIN;
  // `clone3` has its flags in memory, where no filter can read them: without it, the C library
  // calls `clone`.
  return filter_by(std::array<sock_filter, 9>{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 2, 3),
      BPF_STMT(BPF_RET | BPF_K, allow),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, are_threads_refused ? refuse : allow),
      BPF_STMT(BPF_RET | BPF_K, are_threads_refused ? allow : refuse),
  }});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  const std::string_view refused = argv[1];
  if (refused == "signalfds" ? !refuse_signalfds() : !refuse(refused == "threads")) {
    std::perror("seccomp");
    return 1;
  }
  execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 1;
}
