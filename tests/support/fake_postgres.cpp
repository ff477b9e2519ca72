// A server that speaks PostgreSQL's protocol just long enough to refuse a connection.
#include "support/fake_postgres.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rowlock::tests {

namespace {

constexpr std::uint32_t protocol_3 = 3U << 16U;

/// The client is gone, or says what we do not understand.
struct end_of_talk : std::runtime_error {
  end_of_talk() : std::runtime_error{"the client does not talk on"} {}
};

std::string read_exactly(int client, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t read = 0;
  while (read < size) {
    const auto got = recv(client, bytes.data() + read, size - read, 0);
    if (got <= 0) throw end_of_talk{};
    read += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::uint32_t read_number(int client) {
  std::uint32_t number = 0;
  const auto bytes = read_exactly(client, sizeof number);
  for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

std::string read_body(int client) {
  const auto size = read_number(client);
  if (size < 4 || size > 10'000) throw end_of_talk{};
  return read_exactly(client, size - 4);
}

std::string number(std::uint32_t value) {
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    bytes += static_cast<char>(value >> shift & 0xffU);
  return bytes;
}

void send_all(int client, const std::string& bytes) {
  if (send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size())) {
    throw end_of_talk{};
  }
}

void send_message(int client, char type, const std::string& body) {
  send_all(client, type + number(static_cast<std::uint32_t>(body.size() + 4)) + body);
}

std::string field(char name, const std::string& value) { return name + value + '\0'; }

/// The value of `options` in a startup packet.
std::string options_in(const std::string& startup) {
  const std::string name{"\0options\0", 9};
  const auto found = startup.find(name);
  if (found == std::string::npos) return {};
  return startup.c_str() + found + name.size();
}

}  // namespace

fake_postgres::fake_postgres(std::function<reason(const login&)> refusal)
    : refusal_{std::move(refusal)} {
  listening_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = static_cast<sockaddr*>(static_cast<void*>(&address));
  if (bind(listening_, plain, size) != 0 || listen(listening_, 8) != 0 ||
      getsockname(listening_, plain, &size) != 0) {
    throw std::system_error{errno, std::generic_category(), "no port to listen on"};
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { serve(); }};
}

fake_postgres::~fake_postgres() {
  shutdown(listening_, SHUT_RDWR);  // ends the accept
  thread_.join();
  close(listening_);
}

std::vector<login> fake_postgres::logins() {
  const std::scoped_lock lock{mutex_};
  return logins_;
}

void fake_postgres::serve() {
  for (;;) {
    const int client = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    try {
      refuse(client);
    } catch (const end_of_talk&) {
    }
    close(client);
  }
}

void fake_postgres::refuse(int client) {
  auto startup = read_body(client);
  while (startup.substr(0, 4) != number(protocol_3)) {  // it requests encryption first
    send_all(client, "N");
    startup = read_body(client);
  }
  login said{.options = options_in(startup)};
  send_message(client, 'R', number(3));
  if (read_exactly(client, 1) != "p") throw end_of_talk{};
  said.password = read_body(client);
  said.password.pop_back();  // NUL
  {
    const std::scoped_lock lock{mutex_};
    logins_.push_back(said);
  }
  const auto [sqlstate, message] = refusal_(said);
  send_message(client, 'E',
               field('S', "FATAL") + field('C', sqlstate) + field('M', message) + '\0');
}

}  // namespace rowlock::tests
