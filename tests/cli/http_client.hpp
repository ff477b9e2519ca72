// Requests to rowlock serve, byte for byte, and its answers.
#ifndef ROWLOCK_TESTS_CLI_HTTP_CLIENT_HPP
#define ROWLOCK_TESTS_CLI_HTTP_CLIENT_HPP

#include <map>
#include <string>
#include <string_view>

#include "cli/cli_test.hpp"

namespace rowlock::tests {

struct http_reply {
  int status = 0;
  /// By their names in small letters.
  std::map<std::string, std::string> headers = {};
  std::string body = {};
};

/// A connection to a port of 127.0.0.1. Throws when it cannot be made, and when nothing comes in
/// time.
class http_connection {
 public:
  explicit http_connection(int port);
  /// `receives`: the size of the buffer for what was sent to us and is not read yet.
  http_connection(int port, int receives);
  http_connection(http_connection&& other) noexcept;
  http_connection& operator=(http_connection&&) = delete;
  http_connection(const http_connection&) = delete;
  http_connection& operator=(const http_connection&) = delete;
  ~http_connection();

  void send(std::string_view text) const;
  /// All up to the end; empty when the server closed it without a word.
  [[nodiscard]] std::string read_all() const;
  [[nodiscard]] http_reply reply() const;

 private:
  int socket_ = -1;
};

struct commanded_t {};
inline constexpr commanded_t commanded{};

/// `rowlock serve` on a free port.
class served {
 public:
  /// Started by this command.
  served(commanded_t /*tag*/, const words& command);
  /// `database` is the URL, and --table where it is needed.
  explicit served(const words& database, const words& options = {"--listen", "127.0.0.1:0"});

  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] child_process& process() noexcept { return process_; }

  /// The answer to these bytes.
  [[nodiscard]] http_reply ask(std::string_view bytes) const;
  /// The answer to a GET, or another method.
  [[nodiscard]] http_reply get(const std::string& target, const std::string& method = "GET") const;
  /// Asks again and again until the status comes; returns that answer.
  [[nodiscard]] http_reply await(int status, const std::string& target) const;
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  child_process process_;
  int port_ = 0;
};

}  // namespace rowlock::tests

#endif
