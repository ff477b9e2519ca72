// The application's transaction on MariaDB or MySQL, as far as we use it.
#ifndef ROWLOCK_MYSQL_TRANSACTION_HPP
#define ROWLOCK_MYSQL_TRANSACTION_HPP

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "mysql/connection.hpp"
#include "mysql/row.hpp"
#include "mysql/sql/spelling.hpp"
#include "soci/backend.hpp"

namespace rowlock::mysql {

/// What a look tells of the keys, and of the session.
struct transaction_view {
  std::vector<std::optional<seen_row>> rows;
  bool is_read_committed = false;
  bool is_in_cluster = false;
};

/// Executes texts of sql/ in the caller's transaction. Throws `error`, but for conflicts, which are
/// thrown as `soci::mysql_soci_error`: the server has ended the transaction then.
///
/// Thread-safety: as its session, one thread at a time.
class caller_transaction {
 public:
  caller_transaction(::soci::session& session, const table_name& table);

  [[nodiscard]] connection& session() noexcept { return session_; }

  /// Throws `error` (misuse) where there is no open transaction. No round trip.
  void require_transaction() const;

  result_set execute(std::string_view text, std::initializer_list<bound_value> values = {});
  /// None where somebody else has the row, or made it first.
  std::optional<result_set> unless_contended(std::string_view text,
                                             std::initializer_list<bound_value> values);
  /// The same in a transaction, which must still be there then (misuse).
  std::optional<result_set> at_once(std::string_view text,
                                    std::initializer_list<bound_value> values);
  /// A write of the rows at these versions ($1 of `text` is the same list); none where somebody has
  /// one of them. (Where a statement cannot be told not to wait, it is preceded by one that can.)
  std::optional<result_set> at_once(std::string_view text, const json_rows& at_versions,
                                    std::initializer_list<bound_value> values);

  /// As the transaction sees them. None where somebody else has a row and the transaction is
  /// SERIALIZABLE, so that looking locks.
  std::optional<std::vector<std::optional<seen_row>>> read(const key_list& keys);
  std::optional<transaction_view> read_with_settings(const key_list& keys);
  /// The version that a statement gave the row, which its transaction keeps locked. One round trip
  /// if the table has a trigger with statements of its own, whose insert id is told then.
  version version_in(const result_set& result, const lock_key& key);

 private:
  /// `text` for the table, rendered once in a process.
  [[nodiscard]] const std::string& rendered(std::string_view text) const;

  connection session_;
  const table_name& table_;
};

/// So that `retry` and `run_fenced` know a conflict even of the application's first statement.
void recognise_conflicts() noexcept;

/// How long ago a lease must have run out, in a transaction of the application.
std::chrono::microseconds skew_of(const transaction_view& seen, const soci_table& table);

// The soci_backend's calls of the same names.
through_soci::begun_transaction begin(::soci::session& session);
through_soci::begun_transaction begin_locked(::soci::session& session, const lock_keys& keys,
                                             const soci_table& table);
through_soci::lock_attempt try_to_lock(::soci::session& session, const lock_keys& keys,
                                       const soci_table& table, through_soci::isolation known);
detail::fence_proof prove(::soci::session& session, const fenced_leases& leases,
                          const fence_options& options, std::span<const release_request> releases,
                          const soci_table& table);

}  // namespace rowlock::mysql

#endif
