// An event that one thread raises and that poll() can wait for.
#ifndef ROWLOCK_CLI_WAKEUP_HPP
#define ROWLOCK_CLI_WAKEUP_HPP

#include <sys/eventfd.h>

#include "cli/file_descriptor.hpp"

namespace rowlock::cli {

/// Raised once, for good. Thread-safety: all members may be called from any thread.
class wakeup {
 public:
  void raise() const noexcept { eventfd_write(event_.number(), 1); }

  /// Readable from the moment it was raised.
  [[nodiscard]] int descriptor() const noexcept { return event_.number(); }

 private:
  file_descriptor event_{eventfd(0, EFD_CLOEXEC), "eventfd"};
};

}  // namespace rowlock::cli

#endif
