// Ports of 127.0.0.1 that no process listens on.
#include "support/free_ports.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <system_error>

namespace rowlock::tests {

namespace {

bool is_free(int port) {
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listening == -1) throw std::system_error{errno, std::generic_category(), "socket"};
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(static_cast<std::uint16_t>(port));
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound =
      bind(listening, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0;  // NOLINT
  close(listening);
  return bound;
}

}  // namespace

std::vector<int> free_ports(std::size_t how_many) {
  std::random_device random;
  std::uniform_int_distribution any{10'000, 31'999};
  std::vector<int> found;
  while (found.size() < how_many) {
    const int port = any(random);
    if (std::ranges::find(found, port) == found.end() && is_free(port)) found.push_back(port);
  }
  return found;
}

}  // namespace rowlock::tests
