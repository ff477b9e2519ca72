// Signs that a command gets on.
#include "cli/progress_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace rowlock::cli {

namespace {

using namespace std::chrono_literals;

/// A reader that is gone is an error of the write, not a signal for this process.
void block_sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

std::array<file_descriptor, 2> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  const bool is_made = pipe2(ends.data(), O_CLOEXEC) == 0;
  return {file_descriptor{is_made ? ends[0] : -1, "pipe2"},
          file_descriptor{is_made ? ends[1] : -1, "pipe2"}};
}

sockaddr_un address_of(std::string_view name, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name = name.substr(0, sizeof address.sun_path);
  std::copy(name.begin(), name.end(), std::begin(address.sun_path));
  // An abstract name is not ended by a NUL.
  if (!name.empty() && name.front() == '@') address.sun_path[0] = '\0';
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  return address;
}

const sockaddr* as_any(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);  // NOLINT(*-reinterpret-cast): as it is used
}

/// A datagram socket with an abstract name that the kernel chooses.
file_descriptor make_socket() {
  file_descriptor made{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket"};
  socklen_t length = 0;
  const auto nameless = address_of({}, length);
  const int yes = 1;
  if (bind(made.number(), as_any(nameless), length) != 0 ||
      setsockopt(made.number(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0) {
    return {-1, "bind"};
  }
  return made;
}

std::string name_of(const file_descriptor& made) {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  // NOLINTNEXTLINE(*-reinterpret-cast): as it is used
  getsockname(made.number(), reinterpret_cast<sockaddr*>(&address), &length);
  const auto size = length - offsetof(sockaddr_un, sun_path);
  return '@' + std::string{&address.sun_path[1], size - 1};
}

/// Other users of the machine can send to an abstract name, too.
bool is_from_us(msghdr& message) {
  for (auto* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(each), sizeof sender);
    return sender.uid == geteuid() || sender.uid == 0;
  }
  return false;
}

void pass_to_ours(std::string_view message) {
  const char* const ours = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe)
  if (ours == nullptr) return;
  const file_descriptor from{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                             "socket"};
  socklen_t length = 0;
  const auto to = address_of(ours, length);
  sendto(from.number(), message.data(), message.size(), MSG_NOSIGNAL, as_any(to), length);
}

/// Differs after each change that the file system notes.
std::string file_state(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return {};
  return fmt::format("{} {} {} {}", found.st_ino, found.st_size, found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

}  // namespace

output_relay::output_relay(int target, const std::function<void()>& got_on)
    : target_{target}, got_on_{got_on} {
  auto ends = make_pipe();
  output_ = std::move(ends[0]);
  input_ = std::move(ends[1]);
  fcntl(output_.number(), F_SETFL, O_NONBLOCK);
  thread_ = std::thread{[this] { run(); }};
}

output_relay::~output_relay() {
  ended_.raise();
  thread_.join();
}

void output_relay::run() {
  block_sigpipe();
  std::array<pollfd, 2> events{{{output_.number(), POLLIN, 0}, {ended_.descriptor(), POLLIN, 0}}};
  while (events[1].revents == 0) {
    poll(events.data(), events.size(), -1);
    if (events[0].revents != 0 && copy_some() == 0) break;
  }
  // What the command has written, not what it left behind goes on to write.
  int left = 0;
  ioctl(output_.number(), FIONREAD, &left);
  while (left > 0) {
    const auto copied = copy_some();
    if (copied == 0) break;
    left -= static_cast<int>(copied);
  }
  output_.reset();  // a command that still writes gets SIGPIPE, as without this
}

std::size_t output_relay::copy_some() {
  std::array<char, PIPE_BUF> piece{};
  const auto received = read(output_.number(), piece.data(), piece.size());
  if (received <= 0) return 0;
  got_on_();
  for (std::string_view left{piece.data(), static_cast<std::size_t>(received)}; !left.empty();) {
    if (!await_reader()) return 0;
    const auto written = write(target_, left.data(), left.size());
    if (written == -1 && errno != EINTR && errno != EAGAIN) return 0;
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
  return static_cast<std::size_t>(received);
}

bool output_relay::await_reader() const {
  constexpr int last_wait = 2000;  // milliseconds
  std::array<pollfd, 2> events{{{target_, POLLOUT, 0}, {ended_.descriptor(), POLLIN, 0}}};
  while (events[0].revents == 0) {
    const bool is_last = events[1].revents != 0;
    if (is_last) events[1].fd = -1;
    if (poll(events.data(), events.size(), is_last ? last_wait : -1) == 0) return false;
  }
  return true;
}

progress_watch::progress_watch(progress_options options, std::function<void()> got_on,
                               command& watched)
    : options_{std::move(options)}, got_on_{std::move(got_on)}, socket_{make_socket()} {
  if (options_.file) {
    seen_ = file_state(*options_.file);
  } else {
    output_.emplace(STDOUT_FILENO, got_on_);
    errors_.emplace(STDERR_FILENO, got_on_);
    watched.output = output_->input();
    watched.errors = errors_->input();
  }
  const auto usec = std::chrono::microseconds{options_.within}.count();
  auto& variables = watched.environment;
  std::erase_if(variables, [](const std::string& each) {
    return each.starts_with("NOTIFY_SOCKET=") || each.starts_with("WATCHDOG_");
  });
  variables.push_back("NOTIFY_SOCKET=" + name_of(socket_));
  variables.push_back("WATCHDOG_USEC=" + std::to_string(usec));
  thread_ = std::thread{[this] { run(); }};
}

progress_watch::~progress_watch() {
  ended_.raise();
  thread_.join();
}

void progress_watch::run() {
  const auto between_looks = std::clamp<std::chrono::milliseconds>(options_.within / 10, 10ms, 1s);
  const int timeout = options_.file ? static_cast<int>(between_looks.count()) : -1;
  std::array<pollfd, 2> events{{{socket_.number(), POLLIN, 0}, {ended_.descriptor(), POLLIN, 0}}};
  while (events[1].revents == 0) {
    poll(events.data(), events.size(), timeout);
    if (events[0].revents != 0) receive();
    look_at_file();
  }
}

void progress_watch::receive() const {
  std::array<char, 4096> text{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> sender{};
  iovec place{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = sender.data();
  message.msg_controllen = sender.size();
  const auto received = recvmsg(socket_.number(), &message, 0);
  if (received <= 0 || !is_from_us(message)) return;
  const std::string_view lines{text.data(), static_cast<std::size_t>(received)};
  if (('\n' + std::string{lines} + '\n').find("\nWATCHDOG=1\n") != std::string::npos) got_on_();
  pass_to_ours(lines);
}

void progress_watch::look_at_file() {
  if (!options_.file) return;
  auto now = file_state(*options_.file);
  if (now != seen_ && !now.empty()) got_on_();
  seen_ = std::move(now);
}

}  // namespace rowlock::cli
