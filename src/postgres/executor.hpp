// The execution of one call's statements on a connection, and their possible effects.
#ifndef ROWLOCK_POSTGRES_EXECUTOR_HPP
#define ROWLOCK_POSTGRES_EXECUTOR_HPP

#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/connection.hpp"
#include "postgres/fault.hpp"
#include "postgres/sql/leases.hpp"
#include "postgres/sql/spelling.hpp"
#include "postgres/values.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::postgres {

/// A row that a statement changed: the index of its request, and its new version.
struct changed_row {
  std::size_t index;
  rowlock::version version;
  /// The expired lease of another owner, if the grant took one over.
  struct run_out_lease {
    std::string holder;
    std::chrono::microseconds left{};
  };
  std::optional<run_out_lease> taken_over = std::nullopt;
  /// A process waits for the row: the change is to be announced.
  bool is_watched = false;
};

acquire_answer granted_by(const changed_row& changed);

/// The result of a statement for a set.
struct set_result {
  /// All rows or none.
  std::vector<changed_row> granted;
  /// Indexes of the rows that could be locked; the others could not.
  std::vector<std::size_t> withheld;
};

/// Executes texts of sql/ in autocommit. Members throw the driver's exceptions.
///
/// Thread-safety: one thread at a time.
class executor {
 public:
  /// `table` must outlive the executor.
  executor(connection& connection, const postgres_table& table)
      : connection_{connection}, table_{table}, texts_{sql::texts_of(table)} {}

  /// Starts another call.
  void begin_call() noexcept { changed_ = effects::none; }
  /// The possible effects of the call so far.
  [[nodiscard]] effects changed() const noexcept { return changed_; }

  [[nodiscard]] detail::rendered_sql& texts() noexcept { return texts_; }
  [[nodiscard]] std::chrono::milliseconds clock_skew() const noexcept { return table_.clock_skew; }

  /// Executes a statement that changes nothing.
  result_set execute(std::string_view text, const bound_values& values = bound_values{}) {
    return connection_.execute(texts_(text), values);
  }

  /// Executes a statement that writes. `has_written` returns whether a result means that anything
  /// was changed.
  template <class HasWritten>
  result_set execute_writing(std::string_view text, const bound_values& values,
                             const HasWritten& has_written) {
    const effects before = changed_;
    if (changed_ == effects::none) changed_ = effects::possible;
    auto result = connection_.execute(texts_(text), values);
    changed_ = has_written(result) ? effects::made : before;
    return result;
  }
  /// Executes a statement that has written if it returns a row.
  result_set execute_writing(std::string_view text, const bound_values& values);

  /// Executes a statement that writes, and returns `place` and `version` of each row.
  std::vector<changed_row> write(std::string_view text, const bound_values& values);
  /// The same of a statement that returns `is_watched`.
  std::vector<changed_row> write_watched(std::string_view text, const bound_values& values);
  /// The same of a statement for one row that waits for a transaction which takes it at the same
  /// moment. No row if that has it for longer than lock_timeout allows.
  std::optional<changed_row> write_unlocked(std::string_view text, const bound_values& values);
  /// Executes a statement on which nothing depends. A fault is left to the next call.
  void hint(std::string_view text, const bound_values& values) noexcept;
  /// Executes a statement that grants a row or returns its holder. No answer if it does neither.
  struct row_answer {
    std::optional<acquire_answer> answer = std::nullopt;
    bool is_missing = false;
    /// It was granted, and a process waits for it.
    bool is_watched = false;
  };
  row_answer take_row(std::string_view text, const bound_values& values);
  /// Executes a statement that returns the holder of a row, if it is held. A lost answer counts as
  /// one of a statement that writes: so the attempt is sent once more.
  std::optional<acquire_answer> holder(std::string_view text, const bound_values& values);
  /// Executes a statement that grants rows, and returns `last_holder` and `left_of_last_us` as
  /// well, and `is_watched`.
  std::vector<changed_row> take_rows(std::string_view text, const bound_values& values);
  /// Executes a statement that grants all of its rows, or none; then it returns no version.
  set_result take_set(std::string_view text, const bound_values& values);

  /// The committed state of each key; none for a missing row.
  std::vector<std::optional<seen_row>> read(const key_list& keys);
  void prepare(const key_list& keys);

  /// Runs `work`, which creates rows. False if a transaction that has created one of them and is
  /// still open was in its way; then `work` has changed nothing. A lock of the whole table is
  /// thrown as a fault.
  template <class Work>
  bool unless_being_created(const Work& work) {
    if (unless(&fault::is_lock_timeout, work)) return true;
    execute(sql::use_table);
    return false;
  }
  /// Runs `work`, which deletes rows. False if the database refuses that because of one of them;
  /// then `work` has changed nothing.
  template <class Work>
  bool unless_refused(const Work& work) {
    return unless(&fault::is_about_a_row, work);
  }

  /// Runs `work`. A conflict with a concurrent transaction ends it, and is not an error.
  template <class Work>
  void unless_contended(const Work& work) {
    try {
      work();
    } catch (const std::exception& thrown) {
      if (!connection_.fault_in(thrown).is_conflict()) throw;
    }
  }

 private:
  template <class Work>
  bool unless(bool (fault::*is_expected)() const, const Work& work) {
    const effects before = changed_;
    try {
      work();
      return true;
    } catch (const std::exception& thrown) {
      if (!(connection_.fault_in(thrown).*is_expected)()) throw;
      changed_ = before;
      return false;
    }
  }
  [[nodiscard]] row_answer row_answer_in(const result_set& result) const;

  connection& connection_;
  const postgres_table& table_;
  detail::rendered_sql texts_;
  effects changed_ = effects::none;
};

}  // namespace rowlock::postgres

#endif
