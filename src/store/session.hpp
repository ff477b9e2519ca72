// A store on one connection, the source of such sessions, and what a failed call may have changed.
#ifndef ROWLOCK_STORE_SESSION_HPP
#define ROWLOCK_STORE_SESSION_HPP

#include <memory>
#include <string>

#include "rowlock/error.hpp"
#include "rowlock/port/store.hpp"

namespace rowlock::detail {

/// No further connection can be opened: the role, the database, the server or a pooler has as many
/// as its limit allows.
class no_connection_left : public error {
 public:
  explicit no_connection_left(const std::string& message) : error{errc::unavailable, message} {}
  explicit no_connection_left(const error& meant) : error{meant} {}
};

enum class effects {
  none,      ///< Nothing: the call only read, or its changes end with its transaction.
  possible,  ///< A statement that writes was sent.
  made,      ///< A part of the call is done.
};

/// The store port on one connection. The store that owns the session has checked and split its
/// requests.
///
/// Thread-safety: one thread at a time.
class session : public store {
 public:
  /// Throws `error` (rejected) unless the table exists, has the schema of this library, and fits
  /// the guarantees.
  virtual void check_table() = 0;
  /// Whether another call can use this session, after a call. No round trip.
  [[nodiscard]] virtual bool is_usable() const noexcept = 0;
  /// For an idle session: false once the server has closed the connection. No round trip.
  [[nodiscard]] virtual bool is_alive() const noexcept = 0;
  /// Loses the connection before the session is destroyed, where that alone does not close it: the
  /// application's pool gets a session back, and asks its server without a time limit whether it is
  /// connected. No round trip.
  virtual void disconnect() noexcept {}
};

/// Opens the sessions of one store: one implementation for each driver.
///
/// Thread-safety: all members may be called from any thread.
class session_source {
 public:
  session_source() = default;
  session_source(const session_source&) = delete;
  session_source& operator=(const session_source&) = delete;
  virtual ~session_source() = default;

  /// Throws `error`: `no_connection_left` if only a limit of connections is in the way. The session
  /// must not outlive its source.
  virtual std::unique_ptr<session> open() = 0;
  /// See `store::listen`.
  virtual std::unique_ptr<subscription> listen(release_listener& /*listener*/) { return nullptr; }
  [[nodiscard]] virtual store_limits limits() const noexcept = 0;
};

}  // namespace rowlock::detail

#endif
