// The mapping of PostgreSQL failures to errors, the same for all drivers.
#ifndef ROWLOCK_POSTGRES_FAULT_HPP
#define ROWLOCK_POSTGRES_FAULT_HPP

#include <exception>
#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/session.hpp"

namespace rowlock::postgres {

/// A failure, in terms independent of the driver.
struct fault {
  /// Empty if the driver reports none.
  std::string sqlstate = {};
  /// The driver reports that the connection ended before the answer came.
  bool is_connection_dead = false;
  /// The driver refused to send the statement: the transaction or its connection cannot be used
  /// now.
  bool is_misuse = false;

  /// The connection ended before the answer came.
  [[nodiscard]] bool is_lost_connection() const;

  /// The next call needs another connection: this one is lost, or leads to a read-only server.
  [[nodiscard]] bool needs_new_connection() const;

  /// 40001, 40P01: a concurrent transaction won; the whole transaction must be run again.
  [[nodiscard]] bool is_conflict() const;

  /// 40P01: one of these conflicts, in which two transactions waited for each other.
  [[nodiscard]] bool is_deadlock() const;

  /// 55P03: a lock was not free for as long as lock_timeout allows.
  [[nodiscard]] bool is_lock_timeout() const;

  /// One of the rows may not be changed, and others may: a constraint (23...), or an error that a
  /// trigger raises, with any code but those that have another meaning for us: what may pass, or is
  /// about privileges, names, features, limits or the table.
  [[nodiscard]] bool is_about_a_row() const;

  /// A prepared statement is missing (26000), or exists already (42P05): there is a pooler in
  /// between, or another program deallocates statements. The statement did not run.
  [[nodiscard]] bool is_prepared_statement_astray() const;

  /// The result types of a prepared statement have changed, as the table was altered or recreated
  /// since (0A000, which other refusals have, too). The statement did not run.
  [[nodiscard]] bool is_plan_outdated() const;
};

using detail::effects;

/// Called while an exception that `found` describes is handled. Throws the `error` it means, with
/// the driver's exception nested unless its text may show bound values. An `error` passes through.
/// `lock_table` is none for a statement on a table of the application, which may be named by
/// `other_table`.
[[noreturn]] void throw_as_error(const fault& found, effects had, const table_name* lock_table,
                                 std::string_view other_table = {});

/// Throws the `error` (rejected) for a row of `table` that can be read and not changed.
[[noreturn]] void throw_lost_changes(const table_name& table);

/// Throws the `error` (misuse) for a transaction that an earlier error has aborted. The server
/// answers its COMMIT with ROLLBACK, which no driver reports.
[[noreturn]] void throw_aborted_before();

/// Called while an exception of a commit that `found` describes is handled. Throws `error`
/// (outcome_unknown) if the answer was lost, and otherwise the exception again.
[[noreturn]] void throw_failed_commit(const fault& found);

}  // namespace rowlock::postgres

#endif
