// A connection string, with what it leaves open filled in.
#ifndef ROWLOCK_POSTGRES_CONNECTING_HPP
#define ROWLOCK_POSTGRES_CONNECTING_HPP

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

}  // namespace rowlock::postgres

#endif
