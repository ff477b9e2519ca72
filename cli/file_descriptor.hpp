// Owner of a file descriptor, and an event that poll() can wait for.
#ifndef ROWLOCK_CLI_FILE_DESCRIPTOR_HPP
#define ROWLOCK_CLI_FILE_DESCRIPTOR_HPP

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "rowlock/error.hpp"

namespace rowlock::cli {

class file_descriptor {
 public:
  file_descriptor() = default;
  /// Takes the result of a system call; throws `error` (unavailable) for -1.
  file_descriptor(int number, const char* call) : number_{number} {
    if (number != -1) return;
    throw error{errc::unavailable, "the system gives us no file descriptor (" + std::string{call} +
                                       ": " + std::generic_category().message(errno) +
                                       "): raise its limit of open files"};
  }
  file_descriptor(file_descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;
  ~file_descriptor() { reset(); }

  [[nodiscard]] int number() const noexcept { return number_; }

  void reset() noexcept {
    if (number_ != -1) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// An event that is raised once, for good. Thread-safety: all members may be called from any
/// thread.
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
