// Parameters, TLS and settings of a session.
#ifndef ROWLOCK_MYSQL_CONNECTING_HPP
#define ROWLOCK_MYSQL_CONNECTING_HPP

#include <chrono>
#include <string>
#include <vector>

#include "mysql/connection.hpp"
#include "rowlock/soci_store.hpp"

namespace rowlock::mysql {

/// How far the clocks of a Galera cluster's nodes may be apart, unless somebody says otherwise.
inline constexpr std::chrono::seconds skew_of_a_cluster{1};

/// `soci_backend::checked`
std::string checked_parameters(std::string parameters, const soci_options& options);

/// `soci_backend::throw_not_opened`
[[noreturn]] void throw_not_opened(const std::string& parameters);

/// Throws `error` (rejected) when the connection string names sslca, and the connection is not
/// encrypted all the same: the driver goes on without where the server has no TLS, or seems to have
/// none.
void refuse_without_tls(const connection& session);

/// Throws `error` (rejected) for a server that lacks what the statements use, as it said in its
/// greeting. No round trip.
void refuse_old(const connection& session);

struct fit_session {
  connection session;
  std::chrono::microseconds skew;
};

/// Changes the settings of a session that is a store's alone. Throws `error`, as
/// `soci_backend::pin`.
fit_session made_fit_for_a_store(::soci::session& session, const soci_options& options);

struct result_set;

/// As `store::weak_settings`, from what SHOW VARIABLES answered.
std::vector<std::string> weak_settings_in(const result_set& shown);

}  // namespace rowlock::mysql

#endif
