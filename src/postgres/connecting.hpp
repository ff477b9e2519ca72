// Connection strings, server versions, connection failures and idle sockets.
#ifndef ROWLOCK_POSTGRES_CONNECTING_HPP
#define ROWLOCK_POSTGRES_CONNECTING_HPP

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace rowlock::postgres {

/// Time limits added to connection strings that set none.
struct time_limits {
  std::chrono::seconds connect{5};
  std::chrono::milliseconds tcp_user{10'000};
  std::optional<std::chrono::milliseconds> statement = std::nullopt;
  std::optional<std::chrono::milliseconds> lock = std::nullopt;
};

/// How long a statement may wait for a lock: at most half of what it may take, as the end of that
/// wait is contention, and the end of the statement a fault.
inline std::chrono::milliseconds lock_limit(std::chrono::milliseconds lock,
                                            std::chrono::milliseconds statement) {
  return std::max(std::chrono::milliseconds{1}, std::min(lock, statement / 2));
}

/// A parsed connection string. A libpq URI or keyword string may hold a password, and a badly
/// escaped one may have a part of it anywhere. So no message shows the string, nor libpq's own text
/// about it.
class conninfo {
 public:
  /// Throws `error` (misuse) if libpq cannot parse `text`.
  conninfo(const std::string& text, const time_limits& limits);

  /// As a keyword string.
  [[nodiscard]] std::string text() const;

  /// The same without `options`, which a pooler may refuse to pass on.
  [[nodiscard]] std::string text_without_options() const;

  /// Whether a service file provides the session's settings: then `text` sets none.
  [[nodiscard]] bool names_a_service() const;

  /// Whether `test` is true for a value of the connection string itself.
  template <class Test>
  [[nodiscard]] bool has_given(const Test& test) const {
    return std::any_of(given_.begin(), given_.end(),
                       [&](const auto& each) { return test(each.second); });
  }

  /// The server, for messages: `host db, port 5432, database shop`. Omitted if it could hold a part
  /// of a password.
  [[nodiscard]] std::string where() const;

 private:
  using keywords = std::map<std::string, std::string>;

  [[nodiscard]] static std::string text_of(const keywords& values);
  [[nodiscard]] std::string value(const std::string& keyword) const;

  keywords given_;
  keywords values_;
};

/// Throws the `error` that a text of libpq means. The text itself is not shown: it may hold parts
/// of a password. `where` is the server.
[[noreturn]] void throw_failed_connect(const std::string& message, const std::string& where);

/// Throws `error` (rejected) for a server that lacks what the statements use. `version` is what
/// libpq knows from the start of the connection: 150018 for 15.18, zero if it is unknown.
void refuse_old(int version);

/// For an idle connection: false if there is data to read. Nothing was sent, so such data is the
/// end of the connection or a message about it. No round trip.
inline bool is_quiet(int socket) noexcept {
  pollfd watched{.fd = socket, .events = POLLIN, .revents = 0};
  return poll(&watched, 1, 0) == 0;
}

}  // namespace rowlock::postgres

#endif
