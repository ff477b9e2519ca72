// A prepared SQLite statement.
#ifndef ROWLOCK_SQLITE_STATEMENT_HPP
#define ROWLOCK_SQLITE_STATEMENT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sqlite/failure.hpp"

// SQLite's own header is not included: SOCI includes it inside a namespace, and a file cannot have
// both.
struct sqlite3;
struct sqlite3_stmt;

namespace rowlock::sqlite {

/// Members throw `failure`. The database must outlive the statement: it cannot be closed before.
///
/// Thread-safety: as the database, one thread at a time.
class statement {
 public:
  statement(sqlite3* database, std::string_view sql);
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  ~statement();

  /// Parameters are counted from 1. A text is not copied: it must live until the statement has run
  /// to its end or is reset.
  void bind(int place, std::int64_t value);
  void bind(int place, std::string_view value);
  /// Binds null for none.
  template <class Value>
  void bind(int place, const std::optional<Value>& value) {
    value ? bind(place, *value) : bind_null(place);
  }

  /// Runs the statement up to its next row; false at its end. Writes are committed at the end, not
  /// before.
  [[nodiscard]] bool has_next_row();
  /// Runs the statement to its end. Returns how many rows it changed.
  int changed_rows();
  /// Resets the statement to its beginning. A SELECT that is not reset keeps its read transaction
  /// open.
  void reset() noexcept;

  /// Values of the current row. Columns are counted from 0; a null is 0 or empty.
  [[nodiscard]] bool is_null(int column) const noexcept;
  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] std::string text(int column) const;

 private:
  void bind_null(int place);
  void require_ok(int code) const;

  sqlite3* database_;
  sqlite3_stmt* prepared_ = nullptr;
};

/// Runs statements without parameters, and ignores their rows.
void execute(sqlite3* database, std::string_view sql);

}  // namespace rowlock::sqlite

#endif
