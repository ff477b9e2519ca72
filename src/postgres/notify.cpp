// A listener for notifications of releases, grants and requests to yield, on a separate connection.
#include "postgres/notify.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/threads.hpp"
#include "postgres/sql/session.hpp"
#include "rowlock/error.hpp"
#include "rowlock/port/requests.hpp"
#include "store/session.hpp"

namespace rowlock::postgres {

namespace {

constexpr int shortest_pause_ms = 250;
constexpr int longest_pause_ms = 30'000;

/// Removes the first field from `text` and returns it; none if there is only one.
std::optional<std::string> take_field(std::string& text) {
  const auto space = text.find(' ');
  if (space == std::string::npos) return std::nullopt;
  auto field = text.substr(0, space);
  text.erase(0, space + 1);
  return field;
}

/// Bounded: any session may notify on the channel, and clocks count nanoseconds.
std::optional<std::chrono::microseconds> take_time(std::string& text) {
  const auto field = take_field(text);
  std::int64_t parsed = 0;
  if (!field) return std::nullopt;
  const auto* end = field->data() + field->size();
  const auto [stopped, failure] = std::from_chars(field->data(), end, parsed);
  if (failure != std::errc{} || stopped != end) return std::nullopt;
  constexpr std::chrono::microseconds longest = longest_ttl;
  return std::clamp(std::chrono::microseconds{parsed}, -longest, longest);
}

std::optional<lock_key> key_in(std::string announced) {
  auto type = take_field(announced);
  if (!type) return std::nullopt;
  return lock_key{.type = *std::move(type), .source_id = std::move(announced)};
}

/// Ignores what it cannot parse: any session may notify on the channel.
void deliver(release_listener& listener, std::string announced) {
  if (announced.starts_with('?')) {
    if (const auto key = key_in(announced.substr(1))) listener.asked(*key);
    return;
  }
  if (!announced.starts_with('+')) {
    if (const auto key = key_in(std::move(announced))) listener.released(*key);
    return;
  }
  announced.erase(0, 1);
  const auto lease = take_time(announced);
  const auto watched_for = take_time(announced);
  const auto key = key_in(std::move(announced));
  if (lease && watched_for && key)
    listener.taken(*key, {.lease = *lease, .watched_for = *watched_for});
}

/// `name` as an identifier.
std::string quoted(PGconn* connection, const std::string& name) {
  const std::unique_ptr<char, void (*)(void*)> text{
      PQescapeIdentifier(connection, name.data(), name.size()), &PQfreemem};
  if (text == nullptr) throw libpq_failure{connection, nullptr};
  return text.get();
}

void deliver_all(PGconn* connection, release_listener& listener) {
  using notification = std::unique_ptr<PGnotify, void (*)(void*)>;
  for (notification next{PQnotifies(connection), &PQfreemem}; next != nullptr;
       next.reset(PQnotifies(connection))) {
    deliver(listener, next->extra);
  }
}

}  // namespace

notify_listener::notify_listener(connector make, std::string channel_sql,
                                 release_listener& listener,
                                 std::chrono::milliseconds longest_answer)
    : make_{std::move(make)},
      channel_sql_{std::move(channel_sql)},
      listener_{listener},
      longest_answer_{longest_answer},
      end_{eventfd(0, EFD_CLOEXEC)},
      pause_ms_{shortest_pause_ms} {
  if (end_ < 0) {
    throw error{errc::unavailable,
                "the system gives us no file descriptor to hear of releases with: raise its limit "
                "of open files (" +
                    std::generic_category().message(errno) + ')'};
  }
  try {
    detail::start_thread("hear of releases with",
                         [this] { thread_ = std::thread{[this] { run(); }}; });
  } catch (...) {
    close(end_);
    throw;
  }
}

notify_listener::~notify_listener() {
  (void)eventfd_write(end_, 1);
  thread_.join();
  close(end_);
}

bool notify_listener::wait(int socket, int milliseconds) const {
  std::array<pollfd, 2> awaited{{{.fd = end_, .events = POLLIN, .revents = 0},
                                 {.fd = socket, .events = POLLIN, .revents = 0}}};
  (void)poll(awaited.data(), awaited.size(), milliseconds);
  return awaited[0].revents == 0;
}

void notify_listener::run() {
  do {
    try {
      listen();
    } catch (const detail::no_connection_left&) {
      pause_ms_ = longest_pause_ms;    // leave what gets free to calls for locks
    } catch (const std::exception&) {  // polling goes on, and reports the error
    }
    pause_ms_ = std::min(2 * pause_ms_, longest_pause_ms);
  } while (wait(-1, pause_ms_));
}

void notify_listener::listen() {
  libpq_connection used{make_(), {.longest = longest_answer_, .stop = end_}, nullptr};
  auto* const handle = used.handle();
  if (!used.execute(std::string{sql::leaves_a_connection}).front().flag("is_left")) {
    throw detail::no_connection_left{"this is the last connection: calls for locks need it"};
  }
  used.execute(std::string{sql::stay_idle}, bound_values{PQbackendPID(handle)});
  const auto channel = used.execute(channel_sql_).front().text("channel");
  used.execute("LISTEN " + quoted(handle, channel));
  pause_ms_ = shortest_pause_ms;
  listener_.listening();
  do {
    deliver_all(handle, listener_);
  } while (wait(PQsocket(handle), -1) && PQconsumeInput(handle) != 0);
}

}  // namespace rowlock::postgres
