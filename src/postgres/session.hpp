// What one call of the port asks the server, and what it may have changed so far.
#ifndef ROWLOCK_POSTGRES_SESSION_HPP
#define ROWLOCK_POSTGRES_SESSION_HPP

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "postgres/connection.hpp"
#include "postgres/fault.hpp"
#include "postgres/row.hpp"
#include "postgres/sql/statements.hpp"
#include "postgres/values.hpp"
#include "rowlock/port/store.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock::postgres {

/// That the request at `index` of those sent was done, and the version the row has now.
struct done_request {
  std::size_t index;
  rowlock::version version;
  /// Another owner's lease that had run out, if the grant took one over.
  struct run_out_lease {
    std::string holder;
    std::chrono::microseconds left{};
  };
  std::optional<run_out_lease> taken_over = std::nullopt;
};

acquire_answer granted_by(const done_request& done);

/// What became of a set.
struct taken_set {
  /// All, or none.
  std::vector<done_request> granted;
  /// The indexes of those that could be locked; the others could not.
  std::vector<std::size_t> withheld;
};

/// Thread-safety: one thread at a time.
class store_call {
 public:
  /// `asked` is in autocommit.
  store_call(line& asked, const sql::postgres_statements& statements)
      : line_{asked}, statements_{statements} {}

  [[nodiscard]] const sql::postgres_statements& statements() const noexcept { return statements_; }

  /// A statement that writes and answers `place` and `version`.
  std::vector<done_request> write(const std::string& sql, const bound_values& values);
  /// One that grants a row, or answers who has it; none if it does neither.
  std::optional<acquire_answer> take_row(const std::string& sql, const bound_values& values);
  /// One that grants rows, and answers `last_holder` and `left_of_last_us` as well.
  std::vector<done_request> take_rows(const std::string& sql, const bound_values& values);

  /// One that grants all of its rows or none, and answers no version then.
  taken_set take_set(const std::string& sql, const bound_values& values);
  /// One that deletes rows.
  purge_answer purge(const purge_request& request);

  /// The committed state of each key; none for a missing row.
  std::vector<std::optional<seen_row>> look(const key_list& keys);

  /// That somebody waits for the release of these keys at these versions (an array).
  void leave_word(const key_list& keys, const std::string& versions);

  void prepare(const key_list& keys);

  std::vector<row_state> list();
  /// The sessions whose transactions have the row, in words.
  std::optional<std::string> used_by(const lock_key& key);

  std::vector<std::string> weak_settings(const table_name& table);

  /// As the function of this name.
  void check_table(const table_name& table);

  /// Runs `work`, which a concurrent transaction may end.
  template <class Work>
  void unless_contended(const Work& work) {
    try {
      work();
    } catch (const std::exception& thrown) {
      if (!line_.fault_in(thrown).is_conflict()) throw;
    }
  }

  [[nodiscard]] effects had() const noexcept { return had_; }

 private:
  /// `has_written` says of an answer whether anything was changed.
  template <class HasWritten>
  answer execute_writing(const std::string& sql, const bound_values& values,
                         const HasWritten& has_written);
  answer execute_writing(const std::string& sql, const bound_values& values);

  line& line_;
  const sql::postgres_statements& statements_;
  effects had_ = effects::none;
};

}  // namespace rowlock::postgres

#endif
