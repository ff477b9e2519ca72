// A store session on PostgreSQL, for any driver.
#ifndef ROWLOCK_POSTGRES_SESSION_HPP
#define ROWLOCK_POSTGRES_SESSION_HPP

#include <memory>

#include "postgres/connection.hpp"
#include "rowlock/table_name.hpp"
#include "store/session.hpp"

namespace rowlock::postgres {

struct session_options {
  postgres_table table = {};
  /// `read_mode::watched` marks rows, so that their release sends a notification.
  bool marks_watched_rows = true;
};

/// `used` must be in autocommit.
std::unique_ptr<detail::session> make_session(std::unique_ptr<own_connection> used,
                                              session_options options);

}  // namespace rowlock::postgres

#endif
