// The HTTP server of the page: one thread, and no connection that another one waits for.
#ifndef ROWLOCK_CLI_SERVE_HTTP_SERVER_HPP
#define ROWLOCK_CLI_SERVE_HTTP_SERVER_HPP

#include <memory>

#include "cli/serve/addresses.hpp"
#include "cli/serve/web_requests.hpp"
#include "cli/signal_queue.hpp"

namespace rowlock::cli {

/// Boost.Asio waits for all connections in one thread, so a connection costs memory only, and Beast
/// reads the requests and writes the answers. One request a connection, so nothing that a client
/// sends behind it can be taken for another request.
///
/// Thread-safety: one thread at a time, but for `read_ended`.
class http_server {
 public:
  /// Throws `error` (unavailable) that says what to do, for instance when the port is in use.
  static std::unique_ptr<http_server> listen(const listen_address& where);

  http_server() = default;
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  virtual ~http_server() = default;

  /// With the port that the system chose, where 0 was asked for.
  [[nodiscard]] virtual listen_address bound() const = 0;

  /// To be called after each read of the requests, from any thread: who waits for it is answered.
  virtual void read_ended() = 0;

  /// Serves until a signal comes, and returns it.
  virtual int run(web_requests& requests, signal_queue& signals) = 0;
};

}  // namespace rowlock::cli

#endif
