// Prepared statements of one connection.
#ifndef ROWLOCK_MYSQL_PREPARED_HPP
#define ROWLOCK_MYSQL_PREPARED_HPP

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "mysql/connection.hpp"

struct st_mysql_stmt;

namespace rowlock::mysql {

/// Keeps a prepared statement for each text. What the server does not prepare is sent as text, as
/// `connection::execute` does, and so is the first execution of each: a statement that a connection
/// executes once costs no round trip more.
///
/// Thread-safety: as the connection, one thread at a time.
class prepared_statements {
 public:
  explicit prepared_statements(connection session) : session_{session} {}

  /// `sql` lives as long as this, and its address identifies it.
  result_set execute(const std::string& sql, std::initializer_list<bound_value> values);

 private:
  struct close {
    void operator()(st_mysql_stmt* handle) const noexcept;
  };
  struct statement {
    std::unique_ptr<st_mysql_stmt, close> handle;
    /// The value of each question mark.
    std::vector<std::size_t> places;
    bool is_text_only = false;
  };

  result_set execute_first(const std::string& sql, std::initializer_list<bound_value> values);
  void prepare(statement& made, const std::string& sql);
  static void execute_prepared(const statement& prepared,
                               std::initializer_list<bound_value> values);

  connection session_;
  std::unordered_map<const std::string*, statement> statements_;
};

}  // namespace rowlock::mysql

#endif
