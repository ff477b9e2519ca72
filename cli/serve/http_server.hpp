// The HTTP server of the page: one thread, and no connection that another one waits for.
#ifndef ROWLOCK_CLI_SERVE_HTTP_SERVER_HPP
#define ROWLOCK_CLI_SERVE_HTTP_SERVER_HPP

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "cli/file_descriptor.hpp"
#include "cli/serve/listening_socket.hpp"
#include "cli/serve/web_requests.hpp"
#include "cli/signal_queue.hpp"

namespace rowlock::cli {

/// An event that other threads raise, again and again, and that poll() can wait for.
class repeated_wakeup {
 public:
  repeated_wakeup();

  /// Thread-safe.
  void raise() const noexcept;
  /// From now on not readable until the next `raise`.
  void clear() const noexcept;
  [[nodiscard]] int descriptor() const noexcept { return event_.number(); }

 private:
  file_descriptor event_;
};

/// cpp-httplib reads a request's head and writes the answer; its own loop would give each
/// connection a thread for as long as the client likes. Here a connection costs memory only: heads
/// are read, and answers sent, as far as the sockets allow at the moment. One request a connection,
/// so nothing that a client sends behind it can be taken for another request.
///
/// Thread-safety: one thread at a time.
class http_server {
 public:
  struct limits {
    /// Above that, and above half of the descriptors that the process may have, the connection that
    /// has been silent for longest is closed for a new one.
    std::size_t connections = 512;
    /// The request line and the headers.
    std::size_t head = 16'384;
    /// All answers that are being sent. Above that, the one that has taken longest is given up.
    std::size_t unsent = std::size_t{64} << 20U;
    /// From the connection until its whole head has come.
    std::chrono::milliseconds time_for_head{5'000};
    /// Until the answer is taken by the client.
    std::chrono::milliseconds time_for_answer{30'000};
    /// Until the client closes the connection, once it has its answer.
    std::chrono::milliseconds time_for_end{2'000};
  };

  /// `read_ended` is raised after each read of `requests`. Both, and `socket`, must outlive it.
  http_server(const listening_socket& socket, web_requests& requests,
              const repeated_wakeup& read_ended, limits bounds);
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  ~http_server();

  /// Serves until a signal comes, and returns it.
  int run(signal_queue& signals);

 private:
  using clock = std::chrono::steady_clock;
  class head_reader;
  enum class step {
    reading,  // the head has not come
    waiting,  // for a read of the database
    sending,
    ending,  // all is sent; the client may still send
  };
  struct connection {
    file_descriptor socket;
    step at = step::reading;
    std::string received = {};
    std::string unsent = {};
    std::size_t sent = 0;
    clock::time_point until = {};
    bool is_over = false;
  };

  void accept_all();
  void make_room();
  void proceed(connection& which);
  void receive(connection& which);
  void answer(connection& which);
  void begin_sending(connection& which, std::string text);
  void send_more(connection& which);
  static void drain(connection& which);
  void limit_unsent();
  void enter(connection& which, step next, std::chrono::milliseconds time);
  void end_late(clock::time_point now);
  [[nodiscard]] int timeout() const;
  [[nodiscard]] std::vector<pollfd> events(const signal_queue& signals) const;

  const listening_socket& socket_;
  web_requests& requests_;
  const repeated_wakeup& read_ended_;
  limits limits_;
  std::unique_ptr<head_reader> reader_;
  /// The one that has been in its step for longest comes first.
  std::list<connection> connections_;
};

}  // namespace rowlock::cli

#endif
