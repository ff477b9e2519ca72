// The parameters, TLS and settings of a session.
#ifndef ROWLOCK_MYSQL_CONNECTING_HPP
#define ROWLOCK_MYSQL_CONNECTING_HPP

#include <chrono>
#include <string>
#include <vector>

#include "mysql/connection.hpp"
#include "rowlock/soci_store.hpp"

namespace rowlock::mysql {

/// How much the clocks of a cluster's nodes may differ, unless `clock_skew` is set.
inline constexpr std::chrono::seconds skew_of_a_cluster{1};

/// Whether the settings, names with values, are those of a server beside which others write: a node
/// of Galera or Percona XtraDB Cluster, or of a group of MySQL with several primaries.
bool is_of_a_cluster(const result_set& settings);

/// The same in a transaction of the application on MySQL. One round trip for a connection, and
/// further ones only if the server has such settings. Throws the driver's exception.
bool is_in_cluster_of_mysql(connection& session);

/// See `soci_backend::checked`.
std::string checked_parameters(std::string parameters, const soci_options& options);

/// See `soci_backend::throw_not_opened`.
[[noreturn]] void throw_not_opened(const std::string& parameters);

/// Throws `error` (rejected) if the connection string names sslca but the connection is not
/// encrypted. The driver connects without TLS if the server has none, or seems to have none.
void refuse_without_tls(const connection& session);

/// Throws `error` (rejected) for a server that lacks what the statements use, by the version in its
/// greeting. No round trip.
void refuse_unfit(const connection& session);

/// Changes the settings of a session that only a migration uses. Throws `error`, or the driver's
/// exception.
void make_fit_for_a_migration(connection& session);

struct fit_session {
  connection session;
  std::chrono::microseconds skew;
};

/// Changes the settings of a session that only a store uses. Throws `error`, as
/// `soci_backend::make_session`.
fit_session made_fit_for_a_store(::soci::session& session, const soci_options& options);

/// See `store::weak_settings`. `shown` is the result of SHOW VARIABLES.
std::vector<std::string> weak_settings_in(const result_set& shown);

}  // namespace rowlock::mysql

#endif
