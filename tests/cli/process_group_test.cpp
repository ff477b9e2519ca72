// Whether processes of a group are left.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "cli/child_process.hpp"

namespace rowlock::tests {
namespace {

TEST(ProcessGroup, OfAnotherUserIsSeen) {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);  // out of the group that it checks
    // Without the rights to do so it stays the same user, which is as well.
    constexpr uid_t nobody = 65534;
    [[maybe_unused]] const int changed = setuid(nobody);
    _exit(cli::has_living_process(getpgid(getppid())) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ProcessGroup, OfOneThatHasEndedIsNotUntilItIsReaped) {
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    _exit(0);
  }
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(cli::has_living_process(child));
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(cli::has_living_process(child));
}

TEST(ProcessGroup, OfWhichOneStartsAnotherAndEndsIsSeen) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (int i = 0; i < 50; ++i) {
    const pid_t group = fork();
    if (group == 0) {
      setpgid(0, 0);
      if (fork() == 0) {
        if (fork() == 0) pause();
        _exit(0);
      }
      _exit(0);
    }
    ASSERT_EQ(waitpid(group, nullptr, 0), group);
    EXPECT_TRUE(cli::has_living_process(group)) << "round " << i;
    while (kill(-group, SIGKILL) == 0) waitpid(-group, nullptr, 0);
  }
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

}  // namespace
}  // namespace rowlock::tests
