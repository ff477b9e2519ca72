// A prepared statement, and result codes as errors.
#ifndef ROWLOCK_SQLITE_STATEMENT_HPP
#define ROWLOCK_SQLITE_STATEMENT_HPP

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rowlock::sqlite {

/// Never leaves the library as it is: stores turn it into an `error`.
class failure : public std::runtime_error {
 public:
  /// `system_error` is the errno behind it, or 0.
  failure(int code, const std::string& text, int system_error = 0)
      : std::runtime_error{text}, code_{code}, system_error_{system_error} {}
  /// The same, of a write that may have been made durable all the same.
  [[nodiscard]] failure in_doubt() const {
    failure same = *this;
    same.is_in_doubt_ = true;
    return same;
  }

  /// As SQLite gave it: an extended one where the application has turned them on.
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] int system_error() const noexcept { return system_error_; }
  [[nodiscard]] bool is_in_doubt() const noexcept { return is_in_doubt_; }

 private:
  int code_;
  int system_error_;
  bool is_in_doubt_ = false;
};

}  // namespace rowlock::sqlite

// Not by its own header: SOCI puts that into a namespace, and a file cannot have both.
struct sqlite3;
struct sqlite3_stmt;

namespace rowlock::sqlite {

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

/// Somebody else has the file; try again.
bool is_busy(const failure& thrown) noexcept;

/// For a failed write that SQLite committed at once, and a failed COMMIT: after an error of input
/// or output nobody knows what the disk has. Throws `thrown`, in doubt if it is.
[[noreturn]] void throw_as_commit(const failure& thrown);

/// Throws the `error` that `thrown` means. The exception that is being handled is nested. `where`
/// is the database, as a URL; `if_missing` says what to do where a table or a column is missing.
[[noreturn]] void throw_error(const failure& thrown, const std::string& where,
                              const std::string& if_missing);

}  // namespace rowlock::sqlite

#endif
