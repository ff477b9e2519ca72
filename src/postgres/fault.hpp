// What a failure says, whatever driver told it: the one error map.
#ifndef ROWLOCK_POSTGRES_FAULT_HPP
#define ROWLOCK_POSTGRES_FAULT_HPP

#include <exception>
#include <string>
#include <string_view>

#include "rowlock/table_name.hpp"
#include "store/effects.hpp"

namespace rowlock::postgres {

/// A failure in a driver's own words, read.
struct fault {
  /// Empty where the driver tells none.
  std::string sqlstate = {};
  /// The driver says that the connection ended before the answer came.
  bool is_connection_dead = false;
  /// The driver does not even send it: the transaction or its connection cannot be used now.
  bool is_misuse = false;

  /// The connection ended before the answer came.
  [[nodiscard]] bool is_lost_connection() const;

  /// The next call needs another connection: this one is lost, or leads to a server that only
  /// reads.
  [[nodiscard]] bool needs_new_connection() const;

  /// 40001, 40P01: a concurrent transaction won, run the whole transaction again.
  [[nodiscard]] bool is_conflict() const;

  /// A prepared statement that is not there (26000), or was there already (42P05): there is a
  /// pooler between us and the server, or somebody cleans up behind us. The statement did not run.
  [[nodiscard]] bool is_prepared_statement_astray() const;

  /// A prepared statement would answer with other types than when it was prepared, as the table was
  /// changed or made anew since (0A000, which other refusals have too). The statement did not run.
  [[nodiscard]] bool is_plan_outdated() const;
};

using detail::effects;

/// Called while an exception is being handled that `found` describes: throws the `error` it means,
/// with the driver's exception nested unless its text may show bound values. An `error` passes
/// through. `lock_table` is none where the statement was about a table of the application, which
/// may have a name then.
[[noreturn]] void throw_as_error(const fault& found, effects had, const table_name* lock_table,
                                 std::string_view other_table = {});

/// Called while an exception of a commit is being handled that `found` describes: throws `error`
/// (outcome_unknown) when the answer got lost, else the exception again.
[[noreturn]] void throw_failed_commit(const fault& found);

}  // namespace rowlock::postgres

#endif
