// What one call of the port asks a MariaDB or MySQL server, and what it may have changed so far.
#ifndef ROWLOCK_MYSQL_SESSION_HPP
#define ROWLOCK_MYSQL_SESSION_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mysql/connection.hpp"
#include "mysql/errors.hpp"
#include "mysql/row.hpp"
#include "mysql/sql/statements.hpp"

namespace rowlock::through_soci {

/// Rows that one statement has written.
struct mysql_written {
  /// In the list of those that were to be written.
  std::vector<std::size_t> places;
  /// Fewer than `places` where one was no longer as it was seen.
  std::uint64_t affected = 0;
  /// What `last_insert_id(...)` in the statement was given.
  std::uint64_t insert_id = 0;
};

/// Statements on a session of a store: in autocommit, waiting for no row lock. They throw
/// `soci::mysql_soci_error`.
///
/// Thread-safety: one thread at a time.
class mysql_calls {
 public:
  mysql_calls(mysql_session session, const table_name& table)
      : session_{session}, statements_{table, session.flavour()} {}

  /// What follows is another call.
  void begin_call() noexcept { had_ = mysql_effects::none; }
  [[nodiscard]] mysql_effects had() const noexcept { return had_; }

  [[nodiscard]] const sql::mysql_statements& statements() const noexcept { return statements_; }
  [[nodiscard]] mysql_session& session() noexcept { return session_; }
  [[nodiscard]] bool is_alive() const noexcept { return session_.is_alive(); }
  /// Whether a statement can be told to answer at once where it meets a row lock.
  [[nodiscard]] bool answers_at_once() const noexcept {
    return session_.flavour() == sql::mysql_flavour::mariadb;
  }

  mysql_answer read(std::string_view sql, std::initializer_list<mysql_value> values = {}) {
    return session_.execute(sql, values);
  }
  std::vector<std::optional<seen_row>> look(const key_list& keys);

  /// One statement that writes; none where a row lock or a conflict was in the way.
  std::optional<mysql_answer> write(std::string_view sql,
                                    std::initializer_list<mysql_value> values);

  /// `write_sql` for those of `to_write` whose rows nobody has; `have_sql` finds and locks these by
  /// `to_have`, the first `at_most` of them where it says so. In a transaction of its own.
  mysql_written write_what_nobody_has(std::string_view have_sql, const json_rows& to_have,
                                      std::string_view write_sql, const json_rows& to_write,
                                      const mysql_value& second_value, std::size_t at_most = 0);
  /// `write_sql`, which fails as a whole where one of the rows is not as it was seen; none then,
  /// and where somebody has one of them. `existing` are those that are there, as they were seen.
  std::optional<mysql_answer> write_all_or_none(std::string_view write_sql,
                                                const json_rows& to_write,
                                                const mysql_value& second_value,
                                                const json_rows& existing);
  /// The places of the rows that nobody has at this moment, and that are as they were seen.
  std::vector<std::size_t> had_by_nobody(const json_rows& existing);
  /// Whether no transaction has the row, which has to be there.
  bool is_free(const lock_key& key);

 private:
  mysql_session session_;
  sql::mysql_statements statements_;
  mysql_effects had_ = mysql_effects::none;
};

}  // namespace rowlock::through_soci

#endif
