// Connection strings, the server's version, failed connects, an idle socket.
#ifndef ROWLOCK_POSTGRES_CONNECTING_HPP
#define ROWLOCK_POSTGRES_CONNECTING_HPP

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace rowlock::postgres {

/// What is added to connection strings that do not say otherwise.
struct time_limits {
  std::chrono::seconds connect{5};
  std::chrono::milliseconds tcp_user{10'000};
  std::optional<std::chrono::milliseconds> statement = std::nullopt;
  std::optional<std::chrono::milliseconds> lock = std::nullopt;
};

/// A libpq URI or keyword string may hold a password, and a badly escaped one may have a part of it
/// anywhere. No message shows it, nor libpq's own words about it.
class conninfo {
 public:
  /// Throws `error` (misuse) when libpq does not understand `text`.
  conninfo(const std::string& text, const time_limits& limits);

  /// As a keyword string.
  [[nodiscard]] std::string text() const;

  /// The same without what a pooler might refuse to pass on (`options`).
  [[nodiscard]] std::string text_without_options() const;

  /// Whether the settings of its sessions are those of a service file: `text` asks for none.
  [[nodiscard]] bool names_a_service() const;

  /// Whether a value of the connection string itself is such that `test` says so.
  template <class Test>
  [[nodiscard]] bool has_given(const Test& test) const {
    return std::any_of(given_.begin(), given_.end(),
                       [&](const auto& each) { return test(each.second); });
  }

  /// Where it leads, for people: `host db, port 5432, database shop`; or nothing that could be a
  /// part of a password.
  [[nodiscard]] std::string where() const;

 private:
  using keywords = std::map<std::string, std::string>;

  [[nodiscard]] static std::string text_of(const keywords& values);
  [[nodiscard]] std::string value(const std::string& keyword) const;

  keywords given_;
  keywords values_;
};

/// Throws `error`, what the words of libpq mean, without them: they may hold parts of a password.
/// `where` stands for the server.
[[noreturn]] void throw_failed_connect(const std::string& words, const std::string& where);

/// Throws `error` (rejected) for a server that lacks what the statements use. `version` is what
/// libpq knows from the start of the connection: 150018 for 15.18, zero where it knows none.
void refuse_old(int version);

/// Nobody asked anything on it, so whatever is there to be read is the end, or news of it. No round
/// trip.
inline bool is_quiet(int socket) noexcept {
  pollfd watched{.fd = socket, .events = POLLIN, .revents = 0};
  return poll(&watched, 1, 0) == 0;
}

}  // namespace rowlock::postgres

#endif
