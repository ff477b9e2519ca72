// A network between a client and its server that fails on demand.
#include "support/tcp_proxy.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <future>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "support/proxied_connection.hpp"

namespace rowlock::tests {

namespace {

using clock = proxied_socket::clock;

int or_throw(int result, const char* what) {
  if (result == -1) throw std::system_error{errno, std::generic_category(), what};
  return result;
}

int open_socket(int family) {
  return or_throw(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
}

template <class Address>
sockaddr* plain(Address& address) {
  return static_cast<sockaddr*>(static_cast<void*>(&address));
}

/// Small messages go out at once, as they came in.
int without_coalescing(int file) {
  const int on = 1;
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return file;
}

/// The socket, or -1 when no process listens there.
int connect_to(int family, sockaddr* address, socklen_t size) {
  const int file = open_socket(family);
  if (connect(file, address, size) == 0) return file;
  close(file);
  return -1;
}

int connect_to(const std::string& host, const std::string& port) {
  if (host.starts_with('/')) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = host + "/.s.PGSQL." + port;
    path.copy(std::begin(address.sun_path), sizeof address.sun_path - 1);
    return connect_to(AF_UNIX, plain(address), sizeof address);
  }
  addrinfo* found = nullptr;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return -1;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned{found, &freeaddrinfo};
  const int file = connect_to(found->ai_family, found->ai_addr, found->ai_addrlen);
  return file == -1 ? -1 : without_coalescing(file);
}

/// Sends what is due, and passes an end on behind it.
bool has_come_to_its_end(proxied_connection& connection) {
  auto& client = connection.client;
  auto& server = connection.server;
  if (!client.flush() || !server.flush()) return true;
  const auto ends = [](proxied_socket& one, proxied_socket& other) {
    if (!one.has_ended() || other.has_unsent()) return false;
    other.finish();
    return true;
  };
  return ends(client, server) || ends(server, client);
}

}  // namespace

tcp_proxy::tcp_proxy(std::string host, std::string port)
    : server_host_{std::move(host)},
      server_port_{std::move(port)},
      listening_{open_socket(AF_INET)} {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  or_throw(bind(listening_, plain(address), size), "bind");
  or_throw(listen(listening_, SOMAXCONN), "listen");
  or_throw(getsockname(listening_, plain(address), &size), "getsockname");
  port_ = ntohs(address.sin_port);
  wakeup_ = or_throw(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
  thread_ = std::thread{[this] { run(); }};
}

tcp_proxy::~tcp_proxy() {
  order([this] {
    const std::scoped_lock lock{mutex_};
    stopped_ = true;
  });
  thread_.join();
  close(wakeup_);
  close(listening_);
}

void tcp_proxy::pass() { delay(std::chrono::milliseconds::zero()); }

void tcp_proxy::delay(std::chrono::milliseconds by) {
  order([this, by] {
    mode_ = mode::pass;
    delay_ = by;
    lose_packets(false);
    connections_.remove_if([](const auto& each) { return each.has_lost_bytes; });
  });
}

void tcp_proxy::black_hole() {
  order([this] {
    mode_ = mode::black_hole;
    for (auto& each : connections_) {
      if (each.client.drop_unsent() + each.server.drop_unsent() != 0) each.has_lost_bytes = true;
    }
  });
}

void tcp_proxy::cut() {
  black_hole();
  order([this] { lose_packets(true); });
}

void tcp_proxy::reset() {
  order([this] { connections_.clear(); });
}

void tcp_proxy::swallow_reply(const std::string& text) {
  order([this, &text] { to_swallow_ = std::make_unique<std::string>(text); });
}

void tcp_proxy::edit_replies(std::function<std::string(std::string)> edit) {
  order([this, &edit] { edit_ = std::move(edit); });
}

std::size_t tcp_proxy::connections() {
  std::size_t count = 0;
  order([&] { count = connections_.size(); });
  return count;
}

std::size_t tcp_proxy::received() {
  std::size_t count = 0;
  order([&] { count = received_; });
  return count;
}

std::size_t tcp_proxy::swallowed() {
  std::size_t count = 0;
  order([&] { count = swallowed_; });
  return count;
}

void tcp_proxy::order(const std::function<void()>& verb) {
  std::promise<void> done;
  {
    const std::scoped_lock lock{mutex_};
    orders_.emplace_back([&] {
      verb();
      done.set_value();
    });
  }
  eventfd_write(wakeup_, 1);
  done.get_future().wait();
}

void tcp_proxy::run() {
  for (;;) {
    wait();
    take_orders();
    {
      const std::scoped_lock lock{mutex_};
      if (stopped_) break;
    }
    accept_client();
    for (auto& each : connections_) forward(each);
    connections_.remove_if([](const auto& each) { return each.is_over; });
  }
  connections_.clear();
}

void tcp_proxy::wait() {
  std::vector<pollfd> awaited{{wakeup_, POLLIN, 0}, {listening_, POLLIN, 0}};
  std::optional<clock::time_point> due;
  for (const auto& each : connections_) {
    for (const auto* side : {&each.client, &each.server}) {
      awaited.push_back(side->interest());
      if (const auto at = side->due(); at && *at > clock::now())
        due = std::min(due.value_or(*at), *at);
    }
  }
  int limit = -1;
  if (due) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - clock::now());
    limit = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }
  poll(awaited.data(), awaited.size(), limit);
}

void tcp_proxy::take_orders() {
  eventfd_t ignored = 0;
  eventfd_read(wakeup_, &ignored);
  std::vector<std::function<void()>> taken;
  {
    const std::scoped_lock lock{mutex_};
    taken.swap(orders_);
  }
  for (const auto& each : taken) each();
}

void tcp_proxy::accept_client() {
  pollfd waiting{listening_, POLLIN, 0};
  if (poll(&waiting, 1, 0) != 1) return;
  const int client = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client == -1) return;
  without_coalescing(client);
  const int server = mode_ == mode::pass ? connect_to(server_host_, server_port_) : -1;
  auto& made = connections_.emplace_back(client, server);
  if (server != -1) return;
  if (mode_ == mode::black_hole) {
    made.has_lost_bytes = true;
  } else {
    connections_.pop_back();
  }
}

void tcp_proxy::lose_packets(bool lose) {
  rowlock::tests::lose_packets(listening_, lose);  // and of those that it will accept
  for (auto& each : connections_) each.client.lose_packets(lose);
}

void tcp_proxy::forward(proxied_connection& connection) {
  auto request = connection.client.receive();
  auto reply = connection.server.receive();
  if (request && !request->empty()) ++received_;
  if (mode_ == mode::black_hole) {
    const auto is_something = [](const auto& said) { return !said || !said->empty(); };
    if (is_something(request) || is_something(reply)) connection.has_lost_bytes = true;
    return;
  }
  const auto due = clock::now() + delay_;
  if (request && !request->empty()) {
    if (to_swallow_ && request->find(*to_swallow_) != std::string::npos) {
      to_swallow_.reset();
      connection.is_doomed = true;
    }
    connection.server.send_at(due, *std::move(request));
  }
  if (reply && !reply->empty()) {
    if (connection.is_doomed) {
      ++swallowed_;
      connection.is_over = true;
      return;
    }
    connection.client.send_at(due, edit_ ? edit_(*std::move(reply)) : *std::move(reply));
  }
  connection.is_over = has_come_to_its_end(connection);
}

}  // namespace rowlock::tests
