// The address that serve listens on, and its socket.
#ifndef ROWLOCK_CLI_SERVE_LISTENING_SOCKET_HPP
#define ROWLOCK_CLI_SERVE_LISTENING_SOCKET_HPP

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "cli/file_descriptor.hpp"

namespace rowlock::cli {

/// `127.0.0.1:9402`, `[::1]:9402`, `localhost:9402`, or `0.0.0.0:9402` for all interfaces. Names
/// other than localhost are refused: what they stand for may change.
class listen_address {
 public:
  /// Throws `error` (misuse).
  explicit listen_address(std::string_view text);
  /// The address of a socket.
  explicit listen_address(const sockaddr_storage& bound) : address_{bound} {}

  /// Without brackets: `127.0.0.1`, `::1`.
  [[nodiscard]] std::string host() const;
  [[nodiscard]] int port() const;
  /// `127.0.0.1:9402`, `[::1]:9402`.
  [[nodiscard]] std::string text() const;
  /// Only processes of this machine reach it.
  [[nodiscard]] bool is_loopback() const;
  /// All addresses of this machine.
  [[nodiscard]] bool is_any() const;

  [[nodiscard]] const sockaddr* raw() const;
  [[nodiscard]] socklen_t size() const;

 private:
  sockaddr_storage address_{};
};

/// Non-blocking.
class listening_socket {
 public:
  /// Throws `error` (unavailable) that says what to do, for instance when the port is in use.
  explicit listening_socket(const listen_address& where);

  [[nodiscard]] int descriptor() const noexcept { return socket_.number(); }
  /// With the port that the system chose, where 0 was asked for.
  [[nodiscard]] listen_address bound() const;

 private:
  file_descriptor socket_;
};

}  // namespace rowlock::cli

#endif
