// The execution of one call's statements on a MariaDB or MySQL session, and their possible effects.
#ifndef ROWLOCK_MYSQL_EXECUTOR_HPP
#define ROWLOCK_MYSQL_EXECUTOR_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mysql/connection.hpp"
#include "mysql/errors.hpp"
#include "mysql/prepared.hpp"
#include "mysql/row.hpp"
#include "mysql/sql/spelling.hpp"

namespace rowlock::mysql {

/// The rows that a statement wrote.
struct written_rows {
  /// Their indexes in the list of rows to write.
  std::vector<std::size_t> places;
  /// Fewer than `places` if a row was no longer as it was read.
  std::uint64_t affected = 0;
  /// The value of `last_insert_id(...)` in the statement.
  std::uint64_t insert_id = 0;
};

/// Executes texts of sql/ on a session of a store, in autocommit, without waiting for row locks.
/// Members throw `soci::mysql_soci_error`.
///
/// Thread-safety: one thread at a time.
class executor {
 public:
  /// How values reach the server. A session that is lent for one call has no place to keep a
  /// prepared statement, and preparing is a round trip more.
  enum class parameters { written, bound };

  /// `table` must outlive the executor.
  executor(connection session, const table_name& table, parameters how)
      : session_{session}, texts_{sql::texts_of(table, session.flavour())} {
    if (how == parameters::bound) prepared_.emplace(session);
  }

  /// Starts another call.
  void begin_call() noexcept { changed_ = effects::none; }
  /// The possible effects of the call so far.
  [[nodiscard]] effects changed() const noexcept { return changed_; }

  [[nodiscard]] detail::rendered_sql& texts() noexcept { return texts_; }
  [[nodiscard]] connection& session() noexcept { return session_; }
  [[nodiscard]] const connection& session() const noexcept { return session_; }
  [[nodiscard]] bool is_alive() const noexcept { return session_.is_alive(); }
  /// Whether a statement can fail at once when it meets a row lock (MariaDB), instead of waiting.
  [[nodiscard]] bool answers_at_once() const noexcept {
    return session_.flavour() == sql::flavour::mariadb;
  }

  /// Whether a trigger of the table executes statements: then the insert id of the statement that
  /// the trigger is for is not returned. Known after the first grant of one key.
  [[nodiscard]] bool hides_insert_ids() const noexcept { return hides_insert_ids_; }
  void set_hides_insert_ids() noexcept { hides_insert_ids_ = true; }

  /// Executes a statement that changes nothing.
  result_set execute(std::string_view text, std::initializer_list<bound_value> values = {}) {
    const auto& sql = texts_(text);
    return prepared_ ? prepared_->execute(sql, values) : session_.execute(sql, values);
  }
  /// The committed state of each key; none for a missing row.
  std::vector<std::optional<seen_row>> read(const key_list& keys);

  /// Executes a statement that writes; none if a row lock or a conflict was in the way.
  std::optional<result_set> write(std::string_view text, std::initializer_list<bound_value> values);
  /// The same for a block of several statements, which may end between two of them.
  std::optional<result_set> write_block(std::string_view text,
                                        std::initializer_list<bound_value> values);

  /// Executes `write_sql` for the rows of `to_write` that no transaction has locked. `have_sql`
  /// finds and locks these by `to_have`, the first `at_most` if it has a limit. Runs in a separate
  /// transaction.
  written_rows write_unlocked(std::string_view have_sql, const json_rows& to_have,
                              std::string_view write_sql, const json_rows& to_write,
                              const bound_value& second_value, std::size_t at_most = 0);
  /// Executes `write_sql`, which fails as a whole if a row is not as it was read. None in that
  /// case, and if a transaction has locked a row. `existing` are the rows that exist, as they were
  /// read.
  std::optional<result_set> write_all_or_none(std::string_view write_sql, const json_rows& to_write,
                                              const bound_value& second_value,
                                              const json_rows& existing);
  /// The indexes of the rows that no transaction has locked and that are as they were read.
  std::vector<std::size_t> unlocked_of(const json_rows& existing);
  /// Whether no transaction has locked the row, which must exist.
  bool is_free(const lock_key& key);

 private:
  connection session_;
  detail::rendered_sql texts_;
  std::optional<prepared_statements> prepared_;
  effects changed_ = effects::none;
  bool hides_insert_ids_ = false;
};

}  // namespace rowlock::mysql

#endif
