// The application's transaction on MariaDB or MySQL.
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

/// The rows of some keys as the transaction sees them, and settings of the session.
struct transaction_view {
  std::vector<std::optional<seen_row>> rows;
  bool is_read_committed = false;
  bool is_in_cluster = false;
};

/// A row as it was read, and as the statement that writes it must find it.
struct open_row {
  const lock_key& key;
  version seen;
  std::chrono::microseconds open_for{};
  bool may_be_owned = true;
};

/// Executes texts of sql/ in the caller's transaction. Throws `error`, except for conflicts, which
/// are thrown as `soci::mysql_soci_error`: the server has then ended the transaction.
///
/// Thread-safety: as its session, one thread at a time.
class caller_transaction {
 public:
  caller_transaction(::soci::session& session, const table_name& table);

  [[nodiscard]] connection& session() noexcept { return session_; }

  /// Throws `error` (misuse) if no transaction is open. No round trip, unless the session's last
  /// statement failed.
  void require_transaction() const;

  result_set execute(std::string_view text, std::initializer_list<bound_value> values = {});
  /// None if another transaction has the row, or created it first.
  std::optional<result_set> unless_contended(std::string_view text,
                                             std::initializer_list<bound_value> values);
  /// The same in a transaction. Throws `error` (misuse) if the transaction has ended.
  std::optional<result_set> at_once(std::string_view text,
                                    std::initializer_list<bound_value> values);
  /// Writes one row; none if another transaction has it. A row that is not written is not kept
  /// locked. (Where a statement cannot skip the wait, another one that can precedes it.)
  std::optional<result_set> write(std::string_view text, const open_row& row,
                                  std::initializer_list<bound_value> values);
  /// Writes the rows at these versions ($1 of `text` is the same list); none if another transaction
  /// has one of them. A row that is not written may stay locked until the transaction ends.
  std::optional<result_set> write_all(std::string_view text, const json_rows& at_versions,
                                      std::initializer_list<bound_value> values);

  /// The rows as the transaction sees them. None if the transaction is SERIALIZABLE, so that
  /// reading locks, and another transaction has a row.
  std::optional<std::vector<std::optional<seen_row>>> read(const key_list& keys);
  std::optional<transaction_view> read_with_settings(const key_list& keys);
  /// Whether others write beside the server. `setting` is {clustered} of a statement.
  bool is_in_cluster(const std::optional<std::string>& setting);
  /// The version that a statement gave the row, which its transaction keeps locked. One round trip
  /// if a trigger of the table executes statements: then their insert id was returned.
  version version_in(const result_set& result, const lock_key& key);

 private:
  /// `text` for the table, rendered once per process.
  [[nodiscard]] const std::string& rendered(std::string_view text) const;
  [[noreturn]] static void throw_no_transaction();

  connection session_;
  const table_name& table_;
};

/// Makes `retry` and `run_fenced` recognise a conflict even of the application's first statement.
void recognise_conflicts() noexcept;

/// Throws the `error` (misuse) for row locks on a node of a cluster.
[[noreturn]] void throw_local_locks();

/// How long ago a lease must have expired, in a transaction of the application.
std::chrono::microseconds skew_of(const transaction_view& seen, const soci_table& table);

// The calls of soci_backend with the same names.
through_soci::begun_transaction begin(::soci::session& session);
through_soci::begun_transaction begin_locked(::soci::session& session, const lock_keys& keys,
                                             const soci_table& table);
through_soci::lock_attempt try_to_lock(::soci::session& session, const lock_keys& keys,
                                       const soci_table& table, through_soci::isolation known);
outcome<void> lock_entity(::soci::session& session, const entity_table& entity, const row_id& id,
                          const retry_policy& wait, const soci_table& table);
outcome<std::int64_t> read_version(::soci::session& session, const versioned_table& table,
                                   const row_id& id);
commit_result try_commit(::soci::session& session, const versioned_table& table, const row_id& id,
                         std::int64_t seen);
detail::fence_proof prove(::soci::session& session, const fenced_leases& leases,
                          const fence_options& options, std::span<const release_request> releases,
                          const soci_table& table);

}  // namespace rowlock::mysql

#endif
