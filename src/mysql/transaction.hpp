// The application's transaction on MariaDB or MySQL, as far as we use it.
#ifndef ROWLOCK_MYSQL_TRANSACTION_HPP
#define ROWLOCK_MYSQL_TRANSACTION_HPP

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "mysql/connection.hpp"
#include "mysql/row.hpp"
#include "mysql/sql/statements.hpp"
#include "soci/backend.hpp"

namespace rowlock::through_soci {

/// What a look tells of the keys, and of the session.
struct mysql_sight {
  std::vector<std::optional<seen_row>> rows;
  bool is_read_committed = false;
  bool is_in_cluster = false;
};

/// Statements in the caller's transaction. Throws `error`, but for conflicts, which are thrown as
/// `soci::mysql_soci_error`: the server has ended the transaction then.
///
/// Thread-safety: as its session, one thread at a time.
class mysql_caller {
 public:
  mysql_caller(::soci::session& session, const table_name& table);

  [[nodiscard]] mysql_session& session() noexcept { return session_; }
  [[nodiscard]] const sql::mysql_statements& statements() const noexcept { return statements_; }

  /// Throws `error` (misuse) where there is no open transaction. No round trip.
  void require_transaction() const;

  mysql_answer execute(std::string_view sql, std::initializer_list<mysql_value> values = {});
  /// None where somebody else has the row, or made it first.
  std::optional<mysql_answer> unless_contended(std::string_view sql,
                                               std::initializer_list<mysql_value> values);
  /// The same in a transaction, which must still be there then (misuse).
  std::optional<mysql_answer> at_once(std::string_view sql,
                                      std::initializer_list<mysql_value> values);
  /// A write of the rows at these versions ($1 of `sql` is the same list); none where somebody has
  /// one of them. (Where a statement cannot be told not to wait, it is preceded by one that can.)
  std::optional<mysql_answer> at_once(std::string_view sql, const json_rows& at_versions,
                                      std::initializer_list<mysql_value> values);

  /// As the transaction sees them. None where somebody else has a row and the transaction is
  /// SERIALIZABLE, so that looking locks.
  std::optional<std::vector<std::optional<seen_row>>> look(const key_list& keys);
  std::optional<mysql_sight> look_around(const key_list& keys);
  /// The version that a statement gave the row, which its transaction keeps locked. One round trip
  /// if the table has a trigger with statements of its own, whose insert id is told then.
  version version_in(const mysql_answer& answered, const lock_key& key);

 private:
  mysql_session session_;
  const table_name& table_;
  const sql::mysql_statements& statements_;
};

/// Rendered once for each table.
const sql::mysql_statements& mysql_statements_for(const table_name& table,
                                                  sql::mysql_flavour flavour);

/// So that `retry` and `run_fenced` know a conflict even of the application's first statement.
void recognise_mysql_conflicts() noexcept;

/// How long ago a lease must have run out, in a transaction of the application.
std::chrono::microseconds skew_of(const mysql_sight& seen, const soci_table& table);

// The dialect's calls of the same names.
begun_transaction begin_in_mysql(::soci::session& session);
begun_transaction begin_locked_in_mysql(::soci::session& session, const lock_keys& keys,
                                        const soci_table& table);
lock_attempt lock_in_mysql(::soci::session& session, const lock_keys& keys, const soci_table& table,
                           isolation known);
detail::fence_proof prove_in_mysql(::soci::session& session, const fenced_leases& leases,
                                   const fence_options& options,
                                   std::span<const release_request> releases,
                                   const soci_table& table);

}  // namespace rowlock::through_soci

#endif
