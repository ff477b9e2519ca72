// Errors of SQLite, and what they mean.
#ifndef ROWLOCK_SQLITE_FAILURE_HPP
#define ROWLOCK_SQLITE_FAILURE_HPP

#include <stdexcept>
#include <string>

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
