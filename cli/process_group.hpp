// Whether processes of a group are left.
#ifndef ROWLOCK_CLI_PROCESS_GROUP_HPP
#define ROWLOCK_CLI_PROCESS_GROUP_HPP

#include <sys/types.h>

namespace rowlock::cli {

/// Whether a process of `group` is left that has not ended, of this user or another. One that has
/// ended and waits for its parent to reap it does nothing any more, and that parent may never do
/// so: it does not count. Where the kernel shows none of the processes of a group, all count; where
/// it shows some and hides others (hidepid), only those that it shows.
///
/// Cost: a system call when the group is gone; otherwise reads `/proc`, up to three times.
/// Thread-safe.
bool has_living_process(pid_t group);

}  // namespace rowlock::cli

#endif
