// Exceptions for faults. Contention is not a fault: it is a `refusal` inside an `outcome`.
#ifndef ROWLOCK_ERROR_HPP
#define ROWLOCK_ERROR_HPP

#include <string>
#include <system_error>
#include <type_traits>

#include "rowlock/detail/export.hpp"

namespace rowlock {

/// One code for each way in which the caller can react.
enum class errc {
  /// Nothing happened; a retry may succeed. The server is unreachable, full, read-only or too slow.
  unavailable = 1,
  /// It may have happened: the connection broke before the answer came. Read the row, or retry as
  /// the same attempt.
  outcome_unknown,
  /// It cannot succeed until the deployment changes: a table is missing or has another schema
  /// version, or a privilege or a password is wrong.
  rejected,
  /// The call itself is wrong: change the program.
  misuse,
  /// A fence found that the lease is no longer held: stop the work that needs it.
  lease_lost,
};

ROWLOCK_EXPORT const std::error_category& error_category() noexcept;
ROWLOCK_EXPORT std::error_code make_error_code(errc code) noexcept;

/// Every fault that this library reports. Nests the driver's exception or the server's message, if
/// any (`std::rethrow_if_nested`). The message says what to do next. It contains no password,
/// connection string or bound value.
class ROWLOCK_EXPORT error : public std::system_error {
 public:
  error(errc code, const std::string& message);

  [[nodiscard]] errc kind() const noexcept { return static_cast<errc>(code().value()); }
};

/// Thrown by a fence that has ended the transaction: nothing of it commits.
class ROWLOCK_EXPORT lease_lost : public error {
 public:
  explicit lease_lost(const std::string& message) : error{errc::lease_lost, message} {}
};

/// The server refuses the login, for instance for a wrong or changed password (`errc::rejected`).
class ROWLOCK_EXPORT login_refused : public error {
 public:
  explicit login_refused(const std::string& message) : error{errc::rejected, message} {}
  explicit login_refused(const error& meant) : error{meant} {}
};

}  // namespace rowlock

template <>
struct std::is_error_code_enum<rowlock::errc> : std::true_type {};

#endif
