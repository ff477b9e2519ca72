// A listener for notifications of releases and grants, on a separate connection.
#include "postgres/pqxx/notify.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <pqxx/pqxx>
#include <system_error>
#include <utility>

#include "base/threads.hpp"
#include "postgres/pqxx/connection.hpp"
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

#if PQXX_VERSION_MAJOR < 7 || (PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR < 10)

/// Listens on a channel during its lifetime; afterwards the connection cannot be used.
class channel final : public pqxx::notification_receiver {
 public:
  channel(pqxx::connection& connection, const std::string& name, release_listener& listener)
      : pqxx::notification_receiver{connection, name},
        connection_{connection},
        listener_{listener} {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  /// The driver's own destructor would send UNLISTEN, and wait for the answer without a limit.
  ~channel() override {
#if PQXX_VERSION_MAJOR < 7
    connection_.disconnect();
#else
    shutdown(connection_.sock(), SHUT_RDWR);
#endif
  }

  void operator()(const std::string& announced, int /*backend*/) override {
    deliver(listener_, announced);
  }

 private:
  pqxx::connection& connection_;
  release_listener& listener_;
};

#else

class channel {
 public:
  channel(pqxx::connection& connection, const std::string& name, release_listener& listener) {
    connection.listen(name, [&listener](const pqxx::notification& received) {
      deliver(listener, std::string{received.payload});
    });
  }
};

#endif

}  // namespace

class notify_listener::open_connection {
 public:
  open_connection(notify_listener& used_by, int socket)
      : used_by_{used_by}, connection_{used_by.answers_, socket} {
    const std::scoped_lock lock{used_by_.mutex_};
    used_by_.open_ = &connection_;
    if (used_by_.is_over_) connection_.give_up();
  }
  open_connection(const open_connection&) = delete;
  open_connection& operator=(const open_connection&) = delete;
  ~open_connection() {
    const std::scoped_lock lock{used_by_.mutex_};
    used_by_.open_ = nullptr;
  }

  [[nodiscard]] answer_watch::watched watch() { return connection_.watch(); }

 private:
  notify_listener& used_by_;
  answer_watch::connection connection_;
};

notify_listener::notify_listener(connector make, std::string channel_sql,
                                 release_listener& listener, answer_watch& answers)
    : make_{std::move(make)},
      channel_sql_{std::move(channel_sql)},
      listener_{listener},
      answers_{answers},
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
  {
    const std::scoped_lock lock{mutex_};
    is_over_ = true;
    if (open_ != nullptr) open_->give_up();
  }
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
  const auto connection = make_().connection;
  open_connection opened{*this, connection->sock()};
  std::optional<channel> listening;
  {
    const auto watched = opened.watch();
    std::string name;
    {
      pqxx::nontransaction autocommit{*connection};
      const std::string leaves_one{sql::leaves_a_connection};
      if (!execute(autocommit, leaves_one, bound_values{}).front().flag("is_left")) {
        throw detail::no_connection_left{"this is the last connection: calls for locks need it"};
      }
      execute(autocommit, std::string{sql::stay_idle}, bound_values{connection->backendpid()});
      name = execute(autocommit, channel_sql_, bound_values{}).front().text("channel");
    }
    listening.emplace(*connection, name, listener_);
  }
  if (!connection->is_open()) return;  // the driver does not report that LISTEN failed
  pause_ms_ = shortest_pause_ms;
  listener_.listening();
  while (connection->is_open() && wait(connection->sock(), -1)) connection->get_notifs();
}

}  // namespace rowlock::postgres
