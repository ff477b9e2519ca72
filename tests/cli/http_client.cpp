// Requests to rowlock serve, byte for byte, and its answers.
#include "cli/http_client.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "support/patience.hpp"

namespace rowlock::tests {

namespace {

[[noreturn]] void fail(const char* call) {
  throw std::system_error{errno, std::generic_category(), call};
}

http_reply parsed(const std::string& text) {
  const auto end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == std::string::npos) {
    throw std::runtime_error{"no answer of HTTP: " + text};
  }
  http_reply reply{.status = std::stoi(text.substr(9, 3)), .body = text.substr(end + 4)};
  std::istringstream lines{text.substr(0, end)};
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (line.ends_with('\r')) line.pop_back();
    const auto colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    reply.headers[name] = line.substr(colon + 2);
  }
  return reply;
}

}  // namespace

http_connection::http_connection(int port) : http_connection{port, 0} {}

http_connection::http_connection(int port, int receives)
    : socket_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  if (socket_ == -1) fail("socket");
  if (receives > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receives, sizeof receives);
  const timeval longest{std::chrono::seconds{patience}.count(), 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(static_cast<in_port_t>(port));
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as the system call wants it
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0) {
    fail("connect");
  }
}

http_connection::http_connection(http_connection&& other) noexcept
    : socket_{std::exchange(other.socket_, -1)} {}

http_connection::~http_connection() {
  if (socket_ != -1) close(socket_);
}

void http_connection::send(std::string_view text) const {
  while (!text.empty()) {
    const auto count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    if (count == -1) fail("send");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string http_connection::read_all() const {
  std::string all;
  std::array<char, 65536> chunk{};
  for (;;) {
    const auto count = recv(socket_, chunk.data(), chunk.size(), 0);
    if (count == 0 || (count == -1 && errno == ECONNRESET)) return all;
    if (count == -1) fail("recv");
    all.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

http_reply http_connection::reply() const { return parsed(read_all()); }

served::served(const words& database, const words& options)
    : served{commanded, words{ROWLOCK_COMMAND, "serve"} + database + options} {}

served::served(commanded_t /*tag*/, const words& command) : process_{command} {
  const auto line = process_.read_line();
  if (!line) throw std::runtime_error{"it did not start: " + process_.errors()};
  port_ = std::stoi(line->substr(line->rfind(':') + 1));
}

http_reply served::ask(std::string_view bytes) const {
  const http_connection connection{port_};
  connection.send(bytes);
  return connection.reply();
}

http_reply served::get(const std::string& target, const std::string& method) const {
  return ask(method + ' ' + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
             "\r\n\r\n");
}

http_reply served::await(int status, const std::string& target) const {
  http_reply reply;
  const auto is_answered = [&] {
    reply = get(target);
    return reply.status == status;
  };
  await_that(is_answered, {},
             [&] { return target + " answers " + std::to_string(status) + ": " + reply.body; });
  return reply;
}

}  // namespace rowlock::tests
