// How a statement is written for MariaDB, and how for MySQL.
#ifndef ROWLOCK_MYSQL_SQL_SPELLING_HPP
#define ROWLOCK_MYSQL_SQL_SPELLING_HPP

#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"

namespace rowlock::sql {

/// Both understand almost all of it.
enum class mysql_flavour { mariadb, mysql };

/// Statements for one table, with the words in braces replaced.
class mysql_spelling {
 public:
  mysql_spelling(const table_name& table, mysql_flavour flavour)
      : table_{table}, flavour_{flavour} {}

  [[nodiscard]] std::string plain(std::string_view sql) const;
  /// For a session of the application, which waits for row locks. MySQL has no such thing: there
  /// the rows are locked by a SELECT that skips locked ones before.
  [[nodiscard]] std::string without_waiting(std::string_view sql) const;
  /// For one that says SKIP LOCKED, whatever the time limit of the session.
  [[nodiscard]] std::string skipping_locked(std::string_view sql) const;

 private:
  [[nodiscard]] std::string with_time_limit(std::string_view seconds, std::string_view sql) const;

  const table_name& table_;
  mysql_flavour flavour_;
};

}  // namespace rowlock::sql

#endif
