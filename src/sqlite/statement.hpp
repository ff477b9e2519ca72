// One prepared statement.
#ifndef ROWLOCK_SQLITE_STATEMENT_HPP
#define ROWLOCK_SQLITE_STATEMENT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sqlite/failure.hpp"

// Not by its own header: SOCI puts that into a namespace, and a file cannot have both.
struct sqlite3;
struct sqlite3_stmt;

namespace rowlock::on_sqlite {

/// Members throw `failure`. The database must outlive it: it cannot be closed before.
///
/// Thread-safety: as the database's, one thread at a time.
class statement {
 public:
  statement(sqlite3* database, std::string_view sql);
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement();

  /// Parameters are counted from 1. A text is not copied: it must live until the statement was run
  /// to its end or reset.
  void bind(int place, std::int64_t value);
  void bind(int place, std::string_view value);
  /// None is null.
  template <class Value>
  void bind(int place, const std::optional<Value>& value) {
    value ? bind(place, *value) : bind_null(place);
  }

  /// Runs it up to its next row; false at its end. What it writes is committed there, not before.
  [[nodiscard]] bool has_next_row();
  /// Runs it to its end. Returns how many rows it changed.
  int changed_rows();
  /// To its beginning. A SELECT that is not reset keeps its read transaction open.
  void reset() noexcept;

  /// Of the row it is at. Columns are counted from 0; a null is 0 or empty.
  [[nodiscard]] bool is_null(int column) const noexcept;
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] std::string text(int column) const;

 private:
  void bind_null(int place);
  void require_ok(int code) const;

  sqlite3* database_;
  sqlite3_stmt* prepared_ = nullptr;
};

/// Runs statements without parameters, whose rows do not matter.
void execute(sqlite3* database, std::string_view sql);

}  // namespace rowlock::on_sqlite

#endif
