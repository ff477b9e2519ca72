// File systems on which SQLite cannot keep its promises.
#ifndef ROWLOCK_SQLITE_NETWORK_FILE_SYSTEM_HPP
#define ROWLOCK_SQLITE_NETWORK_FILE_SYSTEM_HPP

#include <string>

namespace rowlock::on_sqlite {

/// Throws `error` (rejected) when `file` is on a file system that other machines may share: locks
/// do not reach them there, or not reliably, and the shared memory of WAL never does. FUSE counts
/// as one, because the kernel does not say what is behind it (sshfs, or something local). Does
/// nothing where `file` cannot be looked at.
void refuse_network_file_system(const std::string& file);

}  // namespace rowlock::on_sqlite

#endif
