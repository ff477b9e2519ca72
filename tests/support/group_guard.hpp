// The end of child processes when their test program is killed.
#ifndef ROWLOCK_TESTS_SUPPORT_GROUP_GUARD_HPP
#define ROWLOCK_TESTS_SUPPORT_GROUP_GUARD_HPP

#include <sys/types.h>

namespace rowlock::tests {

// A process of its own, started with the first group, waits for the end of this program: of all of
// it, so that the end of a thread changes nothing (PR_SET_PDEATHSIG is of the thread that forked).
// It then sends SIGTERM to the groups that are left, and SIGKILL after five seconds: servers remove
// their folders meanwhile. It ends when there is no group.
//
// Thread-safety: may be called from any thread.

/// The process group is ended with this program.
void guard_group(pid_t group);
/// No longer. Call it before the leader of the group is reaped: until then no other group can have
/// the number.
void forget_group(pid_t group);

}  // namespace rowlock::tests

#endif
