// One client of a tcp_proxy, and the server's side of it.
#include "support/proxied_connection.hpp"

#include <linux/filter.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace rowlock::tests {

void lose_packets(int file, bool lose) {
  sock_filter keep_nothing{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
  const sock_fprog program{.len = 1, .filter = &keep_nothing};
  setsockopt(file, SOL_SOCKET, lose ? SO_ATTACH_FILTER : SO_DETACH_FILTER, &program,
             sizeof program);
}

proxied_socket::~proxied_socket() {
  if (file_ == -1) return;
  const linger at_once{.l_onoff = 1, .l_linger = 0};  // makes close send a reset
  setsockopt(file_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(file_);
}

std::optional<std::string> proxied_socket::receive() {
  if (file_ == -1 || ended_) return std::string{};
  std::array<char, 16384> chunk{};
  const auto got = recv(file_, chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got > 0) return std::string{chunk.data(), static_cast<std::size_t>(got)};
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::string{};
  ended_ = true;
  return std::nullopt;
}

void proxied_socket::send_at(clock::time_point due, std::string bytes) {
  // A shorter delay does not overtake a longer one.
  if (!unsent_.empty() && due < unsent_.back().due) due = unsent_.back().due;
  unsent_.push_back({due, std::move(bytes)});
}

void proxied_socket::finish() noexcept {
  if (file_ != -1) close(std::exchange(file_, -1));
}

void proxied_socket::lose_packets(bool lose) const {
  if (file_ != -1) rowlock::tests::lose_packets(file_, lose);
}

std::size_t proxied_socket::drop_unsent() noexcept {
  std::size_t size = 0;
  for (const auto& each : unsent_) size += each.bytes.size();
  unsent_.clear();
  return size;
}

bool proxied_socket::flush() {
  while (!unsent_.empty() && unsent_.front().due <= clock::now()) {
    auto& bytes = unsent_.front().bytes;
    const auto sent = send(file_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    bytes.erase(0, static_cast<std::size_t>(sent));
    if (bytes.empty()) unsent_.pop_front();
  }
  return true;
}

std::optional<proxied_socket::clock::time_point> proxied_socket::due() const {
  if (unsent_.empty()) return std::nullopt;
  return unsent_.front().due;
}

pollfd proxied_socket::interest() const {
  short events = 0;
  if (!ended_) events |= POLLIN;
  if (!unsent_.empty() && unsent_.front().due <= clock::now()) events |= POLLOUT;
  // poll reports a hang-up even if no event is requested; a negative file is left out.
  return {events == 0 ? -1 : file_, events, 0};
}

}  // namespace rowlock::tests
