// One client of a tcp_proxy, and the server's side of it.
#ifndef ROWLOCK_TESTS_SUPPORT_PROXIED_CONNECTION_HPP
#define ROWLOCK_TESTS_SUPPORT_PROXIED_CONNECTION_HPP

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>

namespace rowlock::tests {

/// Whether what arrives at a socket vanishes before TCP can acknowledge it.
void lose_packets(int file, bool lose);

/// A socket, and what is still to be sent to it.
///
/// Thread-safety: one thread at a time.
class proxied_socket {
 public:
  using clock = std::chrono::steady_clock;

  /// Owns `file`; -1 is none, which never says anything.
  explicit proxied_socket(int file) : file_{file} {}
  proxied_socket(const proxied_socket&) = delete;
  proxied_socket& operator=(const proxied_socket&) = delete;
  /// Resets the connection, if `finish` has not ended it.
  ~proxied_socket();

  /// What has arrived; empty when nothing has, none once at its end.
  std::optional<std::string> receive();
  /// Sends `bytes`, but not before `due`.
  void send_at(clock::time_point due, std::string bytes);
  /// Closes it in the normal way.
  void finish() noexcept;

  void lose_packets(bool lose) const;
  /// How many bytes that were.
  std::size_t drop_unsent() noexcept;
  /// Sends what is due; false when the other side has gone.
  bool flush();
  [[nodiscard]] bool has_unsent() const noexcept { return !unsent_.empty(); }
  [[nodiscard]] bool has_ended() const noexcept { return ended_; }
  /// When `flush` has something to do at the soonest; none: not before more is to be sent.
  [[nodiscard]] std::optional<clock::time_point> due() const;
  /// What to wait for.
  [[nodiscard]] pollfd interest() const;

 private:
  struct piece {
    clock::time_point due;
    std::string bytes;
  };

  int file_;
  bool ended_ = false;
  std::deque<piece> unsent_;
};

/// Thread-safety: one thread at a time.
struct proxied_connection {
  proxied_connection(int client_file, int server_file) : client{client_file}, server{server_file} {}

  proxied_socket client;
  proxied_socket server;
  /// Something one side said never got to the other.
  bool has_lost_bytes = false;
  /// The next thing the server says is to be swallowed.
  bool is_doomed = false;
  bool is_over = false;
};

}  // namespace rowlock::tests

#endif
