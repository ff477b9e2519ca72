// A prepared SQLite statement, and result codes as errors.
#ifndef ROWLOCK_SQLITE_STATEMENT_HPP
#define ROWLOCK_SQLITE_STATEMENT_HPP

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rowlock::sqlite {

/// An error of SQLite. It never leaves the library: stores turn it into an `error`.
class failure : public std::runtime_error {
 public:
  /// `system_error` is the errno behind it, or 0.
  failure(int code, const std::string& text, int system_error = 0)
      : std::runtime_error{text}, code_{code}, system_error_{system_error} {}
  /// A copy for a failed write that may nevertheless be durable.
  [[nodiscard]] failure in_doubt() const {
    failure same = *this;
    same.is_in_doubt_ = true;
    return same;
  }

  /// The result code of SQLite; an extended one if the application has turned them on.
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] int system_error() const noexcept { return system_error_; }
  [[nodiscard]] bool is_in_doubt() const noexcept { return is_in_doubt_; }

 private:
  int code_;
  int system_error_;
  bool is_in_doubt_ = false;
};

}  // namespace rowlock::sqlite

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

/// Whether another connection has the file, so that a retry may succeed.
bool is_busy(const failure& thrown) noexcept;

/// A value breaks a rule of its table.
bool is_about_value(const failure& thrown) noexcept;

/// A statement names what is missing (a table, a column, a function), or is no SQL.
bool is_about_schema(const failure& thrown) noexcept;

/// For a failed write that SQLite committed at once, and for a failed COMMIT. After an error of
/// input or output, what is on the disk is unknown: then `thrown` is thrown as in doubt.
[[noreturn]] void throw_as_commit(const failure& thrown);

/// Throws the `error` that `thrown` means, with the current exception nested. `where` is the
/// database's URL; `if_missing` is the remedy for a missing table or column.
[[noreturn]] void throw_error(const failure& thrown, const std::string& where,
                              const std::string& if_missing);

}  // namespace rowlock::sqlite

#endif
