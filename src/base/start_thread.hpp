// Threads that the system may refuse us.
#ifndef ROWLOCK_BASE_START_THREAD_HPP
#define ROWLOCK_BASE_START_THREAD_HPP

#include <exception>
#include <string>
#include <system_error>

#include "rowlock/error.hpp"

namespace rowlock::detail {

/// Calls `start`, which starts a thread "to ..." (`purpose`). Throws `error` (unavailable) when the
/// system lets us start none.
template <class Start>
void start_thread(const char* purpose, const Start& start) {
  try {
    start();
  } catch (const std::system_error&) {
    std::throw_with_nested(error{errc::unavailable, "the system lets us start no thread to " +
                                                        std::string{purpose} +
                                                        ": raise its limit of threads"});
  }
}

}  // namespace rowlock::detail

#endif
