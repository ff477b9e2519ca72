// A store session on a SQLite file, for any driver.
#ifndef ROWLOCK_SQLITE_SESSION_HPP
#define ROWLOCK_SQLITE_SESSION_HPP

#include <chrono>
#include <memory>
#include <string>

#include "rowlock/table_name.hpp"
#include "sqlite/busy_wait.hpp"
#include "sqlite/failure.hpp"
#include "store/session.hpp"

struct sqlite3;

namespace rowlock::sqlite {

/// The file of a session, as its driver opens it.
///
/// Thread-safety: one thread at a time.
class session_file {
 public:
  session_file() = default;
  session_file(const session_file&) = delete;
  session_file& operator=(const session_file&) = delete;
  virtual ~session_file() = default;

  /// Returns a connection that is fit for a store. Called by the first call, and again after each
  /// SQLITE_BUSY. Throws `error` and `failure`.
  virtual sqlite3* open(busy_wait& wait) = 0;
  /// The file as a URL, for messages.
  [[nodiscard]] virtual std::string where() const = 0;
  /// False once the open file was deleted or replaced.
  [[nodiscard]] virtual bool is_alive() const noexcept = 0;
  /// Called while `failed` is handled. Throws the `error` that it means, with the driver's
  /// exception nested. `if_missing` is the remedy for a missing table or column.
  [[noreturn]] virtual void throw_meaning_of(const failure& failed,
                                             const std::string& if_missing) const = 0;
};

/// If the file was not free in time, calls that change rows answer busy, and the others throw
/// `error` (unavailable). Each file is checked by the first call.
class session : public detail::session {
 public:
  /// The next call waits for the file until `end`, instead of for `turn_timeout`.
  virtual void end_next_call_at(busy_wait::clock::time_point end) = 0;
  /// The path of the file; empty before the first call.
  [[nodiscard]] virtual std::string file() const = 0;
};

/// `table` must outlive the session.
std::unique_ptr<session> make_session(std::unique_ptr<session_file> file, const table_name& table,
                                      std::chrono::milliseconds turn_timeout);

}  // namespace rowlock::sqlite

#endif
