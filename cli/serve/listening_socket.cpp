// The address that serve listens on, and its socket.
#include "cli/serve/listening_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "rowlock/error.hpp"

namespace rowlock::cli {

namespace {

[[noreturn]] void refuse_address() {
  throw error{errc::misuse,
              "--listen is no address with a port: write 127.0.0.1:9402, [::1]:9402, or "
              "0.0.0.0:9402 for all interfaces; port 0 takes a free one"};
}

in_port_t parse_port(std::string_view text) {
  constexpr int greatest = 65535;
  int port = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure != std::errc{} || end != text.data() + text.size() || port < 0 || port > greatest) {
    refuse_address();
  }
  return htons(static_cast<in_port_t>(port));
}

template <class Address>
Address of_kind(const sockaddr_storage& address) {
  Address copy{};
  std::memcpy(&copy, &address, sizeof copy);
  return copy;
}

std::string what_to_do(int reason, const listen_address& where) {
  const std::string other = "or choose another port with --listen (port 0 takes a free one)";
  if (reason == EADDRINUSE) {
    return "the port is in use: end what listens there (ss -ltnp shows it), " + other;
  }
  if (reason == EACCES) return "not permitted: ports below 1024 need a privilege, " + other;
  if (reason == EADDRNOTAVAIL) {
    return "this machine has no address " + where.host() +
           ": write one of its own (ip address shows them) with --listen";
  }
  return std::generic_category().message(reason) + ": choose another address with --listen";
}

}  // namespace

listen_address::listen_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse_address();
  const in_port_t port = parse_port(text.substr(colon + 1));
  std::string host{text.substr(0, colon)};
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = port;
    if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1) refuse_address();
    std::memcpy(&address_, &six, sizeof six);
    return;
  }
  if (host == "localhost") host = "127.0.0.1";
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = port;
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) refuse_address();
  std::memcpy(&address_, &four, sizeof four);
}

std::string listen_address::host() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address_.ss_family == AF_INET6) {
    const auto six = of_kind<sockaddr_in6>(address_);
    inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  } else {
    const auto four = of_kind<sockaddr_in>(address_);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
  }
  return text.data();
}

int listen_address::port() const {
  return ntohs(address_.ss_family == AF_INET6 ? of_kind<sockaddr_in6>(address_).sin6_port
                                              : of_kind<sockaddr_in>(address_).sin_port);
}

std::string listen_address::text() const {
  const std::string shown = address_.ss_family == AF_INET6 ? '[' + host() + ']' : host();
  return shown + ':' + std::to_string(port());
}

bool listen_address::is_loopback() const {
  if (address_.ss_family == AF_INET6) {
    const auto six = of_kind<sockaddr_in6>(address_);
    return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) != 0;
  }
  constexpr unsigned loopback_network = 127;
  return ntohl(of_kind<sockaddr_in>(address_).sin_addr.s_addr) >> 24U == loopback_network;
}

bool listen_address::is_any() const { return host() == "0.0.0.0" || host() == "::"; }

const sockaddr* listen_address::raw() const {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as the system calls want it
  return reinterpret_cast<const sockaddr*>(&address_);
}

socklen_t listen_address::size() const {
  return address_.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

listening_socket::listening_socket(const listen_address& where)
    : socket_{socket(where.raw()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
              "socket"} {
  const int on = 1;
  // Connections of a former process that are not quite over do not keep the port.
  setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  constexpr int most_not_accepted = 1024;
  if (bind(socket_.number(), where.raw(), where.size()) != 0 ||
      listen(socket_.number(), most_not_accepted) != 0) {
    throw error{errc::unavailable,
                "cannot listen on " + where.text() + ": " + what_to_do(errno, where)};
  }
}

listen_address listening_socket::bound() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as the system call wants it
  getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return listen_address{address};
}

}  // namespace rowlock::cli
