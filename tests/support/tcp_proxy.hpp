// A network between a client and its server that fails on demand.
#ifndef ROWLOCK_TESTS_SUPPORT_TCP_PROXY_HPP
#define ROWLOCK_TESTS_SUPPORT_TCP_PROXY_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace rowlock::tests {

class proxied_connection;

/// Listens on a free port of 127.0.0.1 and forwards every connection to a server, in a thread of
/// its own. While the server does not listen, clients are reset.
///
/// Each verb holds for the connections that are open and those to come, has been carried out when
/// the call returns, and lasts until the next `pass`, `black_hole`, `cut` or `delay`.
///
/// Thread-safety: all members may be called from any thread.
class tcp_proxy {
 public:
  /// The server's host (a name, an address, or the folder of its unix socket) and port, as libpq
  /// reports them.
  tcp_proxy(std::string host, std::string port);
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;
  /// Resets all connections.
  ~tcp_proxy();

  [[nodiscard]] int port() const noexcept { return port_; }

  /// Forwards at once; this is how it begins. Connections that have lost bytes in a black hole are
  /// reset: the rest would make no sense.
  void pass();
  /// What either side says vanishes, its end included; connections stay open, and new ones are
  /// accepted and never answered.
  void black_hole();
  /// As a black hole, and the kernels notice: nothing that a client sends is acknowledged, as if a
  /// cable were cut. No new connection comes about.
  void cut();
  /// Forwards everything that much later.
  void delay(std::chrono::milliseconds by);

  /// Resets the connections that are open now, on both sides. What comes later is as before.
  void reset();
  /// Once: the next request that contains `text` reaches the server; the answer is thrown away when
  /// it comes, and the connection is reset on both sides. A further call before that replaces it.
  /// (A statement that is prepared is requested by its name; begin, commit and what is not prepared
  /// by their text.)
  void swallow_reply(const std::string& text = {});

  /// Clients get what `edit` makes of what the server says, in the pieces in which it arrives; the
  /// greeting of a server is one. Lasts. `edit` runs in the proxy's thread.
  void edit_replies(std::function<std::string(std::string)> edit);

  /// How many clients are connected.
  [[nodiscard]] std::size_t connections();
  /// How many pieces clients have sent, forwarded or not.
  [[nodiscard]] std::size_t received();
  /// How many replies have been swallowed.
  [[nodiscard]] std::size_t swallowed();

 private:
  enum class mode { pass, black_hole };

  /// Runs `verb` in the thread and waits for it.
  void order(const std::function<void()>& verb);
  void run();
  /// Sleeps until there is something to do.
  void wait();
  void take_orders();
  void accept_client();
  void lose_packets(bool lose);
  void forward(proxied_connection& connection);

  const std::string server_host_;
  const std::string server_port_;
  int listening_ = -1;
  int port_ = 0;
  int wakeup_ = -1;  // an eventfd

  std::mutex mutex_;
  std::vector<std::function<void()>> orders_;  // guarded by mutex_
  bool stopped_ = false;                       // guarded by mutex_

  // Only the thread touches these.
  mode mode_ = mode::pass;
  std::chrono::milliseconds delay_{};
  std::unique_ptr<std::string> to_swallow_;
  std::size_t received_ = 0;
  std::size_t swallowed_ = 0;
  std::function<std::string(std::string)> edit_;
  std::list<proxied_connection> connections_;

  std::thread thread_;
};

}  // namespace rowlock::tests

#endif
