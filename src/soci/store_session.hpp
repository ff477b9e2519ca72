// The sessions of a store.
#ifndef ROWLOCK_SOCI_STORE_SESSION_HPP
#define ROWLOCK_SOCI_STORE_SESSION_HPP

#include <memory>
#include <string>

#include "soci/backend.hpp"

namespace soci {
class connection_pool;
}

namespace rowlock::through_soci {

/// A session, and what a store asks on it.
class store_session {
 public:
  /// Pins the session.
  store_session(std::shared_ptr<::soci::session> session, const dialect& spoken,
                const soci_options& options)
      : session_{std::move(session)}, leases_{spoken.pin(*session_, options)} {}

  [[nodiscard]] lease_session& leases() noexcept { return *leases_; }
  [[nodiscard]] bool is_alive() const noexcept { return leases_->is_alive(); }

 private:
  std::shared_ptr<::soci::session> session_;  // outlives leases_
  std::unique_ptr<lease_session> leases_;
};

/// Opens a session of our own. Throws `error`.
std::unique_ptr<::soci::session> open(const connection_target& target);

/// Takes a session out of the application's pool, to which it goes back when it is destroyed;
/// connects it anew if it has lost its connection. Throws `error`.
std::shared_ptr<::soci::session> take_from(::soci::connection_pool& pool,
                                           std::chrono::milliseconds timeout);

}  // namespace rowlock::through_soci

#endif
