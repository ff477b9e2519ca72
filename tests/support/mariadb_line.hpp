// A connection to MariaDB that knows nothing of rowlock.
#ifndef ROWLOCK_TESTS_SUPPORT_MARIADB_LINE_HPP
#define ROWLOCK_TESTS_SUPPORT_MARIADB_LINE_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct st_mysql;

namespace rowlock::tests {

/// What the server, or the client for want of one, says against a statement.
class mariadb_error : public std::runtime_error {
 public:
  mariadb_error(unsigned number, const std::string& message)
      : std::runtime_error{message}, number_{number} {}

  /// 1213 for a deadlock, 2013 for a lost connection, and so on.
  [[nodiscard]] unsigned number() const noexcept { return number_; }

 private:
  unsigned number_;
};

/// In autocommit until a statement ends that. Every call throws `mariadb_error`, at the latest when
/// the server has not answered for as long as a test is patient.
///
/// Thread-safety: one thread at a time.
class mariadb_line {
 public:
  /// `mysql://user@127.0.0.1:port/database`
  explicit mariadb_line(const std::string& url);

  void execute(const std::string& sql);
  using row = std::vector<std::optional<std::string>>;
  std::vector<row> rows(const std::string& sql);
  /// The first column of the only row.
  std::string value(const std::string& sql);
  std::int64_t number(const std::string& sql) { return std::stoll(value(sql)); }

 private:
  [[noreturn]] void throw_error() const;

  std::unique_ptr<st_mysql, void (*)(st_mysql*)> connection_;
};

/// Where a server listens.
struct mariadb_address {
  std::string user;
  std::string password;
  std::string host;
  unsigned port;
  std::string database;
};
mariadb_address mariadb_address_of(const std::string& url);
/// The same server and database at another port of 127.0.0.1.
std::string mariadb_url_through(int port, const std::string& url);

}  // namespace rowlock::tests

#endif
