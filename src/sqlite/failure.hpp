// SQLite's answer to a statement that it did not carry out.
#ifndef ROWLOCK_SQLITE_FAILURE_HPP
#define ROWLOCK_SQLITE_FAILURE_HPP

#include <stdexcept>
#include <string>

namespace rowlock::on_sqlite {

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

}  // namespace rowlock::on_sqlite

#endif
