// Hints that another process has written to a SQLite file.
#ifndef ROWLOCK_SQLITE_FILE_WATCH_HPP
#define ROWLOCK_SQLITE_FILE_WATCH_HPP

#include <memory>
#include <string>

#include "rowlock/port/store.hpp"

namespace rowlock::sqlite {

/// Calls `listener.changed()` from a thread of its own when any process has written to the file or
/// its log. Null without a path, and where the system reports no writes: waiters then read at their
/// own pace, as they do where it reports only some. Throws `error` (unavailable) if no thread can
/// be started.
std::unique_ptr<subscription> watch_file(const std::string& path, release_listener& listener);

}  // namespace rowlock::sqlite

#endif
