// Check for live processes of a process group.
#ifndef ROWLOCK_CLI_PROCESS_GROUP_HPP
#define ROWLOCK_CLI_PROCESS_GROUP_HPP

#include <sys/types.h>

namespace rowlock::cli {

/// Whether a live process of `group` is left, of this user or another. A process that has ended and
/// waits for its parent to reap it does not count: it does nothing, and that parent may never reap
/// it.
///
/// If the kernel shows no process of a group, all of them count. If it shows some and hides others
/// (hidepid), only those that it shows count.
///
/// Cost: a system call when the group is gone; otherwise reads `/proc`, up to three times.
/// Thread-safe.
bool has_living_process(pid_t group);

}  // namespace rowlock::cli

#endif
