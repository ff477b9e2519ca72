// A store session on MariaDB or MySQL.
#ifndef ROWLOCK_MYSQL_SESSION_HPP
#define ROWLOCK_MYSQL_SESSION_HPP

#include <memory>

#include "rowlock/soci_store.hpp"
#include "store/session.hpp"

namespace soci {
class session;
}

namespace rowlock::mysql {

/// Changes settings of `used`, which only the store uses. Throws `error`.
std::unique_ptr<detail::session> make_session(std::shared_ptr<::soci::session> used,
                                              const soci_options& options);

}  // namespace rowlock::mysql

#endif
