// The parameters, TLS and settings of a session.
#include "mysql/connecting.hpp"

#include <soci/mysql/soci-mysql.h>
#include <soci/soci.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "base/never_destroyed.hpp"
#include "mysql/connection_string.hpp"
#include "mysql/errors.hpp"
#include "mysql/inspecting.hpp"
#include "mysql/sql/session.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/error.hpp"
#include "store/session.hpp"

namespace rowlock::mysql {

namespace {

/// The statement that sets up a session, without a further round trip for what it has to overrule.
std::string pinning(std::string_view beginning, sql::flavour server) {
  std::string text{beginning};
  text += sql::pinned;
  if (server == sql::flavour::mariadb) text += sql::pinned_on_mariadb;
  text += sql::pinned_names;
  return text;
}

/// The parameters that SOCI reads from a connection string.
constexpr std::array<std::string_view, 18> known_to_soci{
    "charset", "connect_timeout", "db",     "dbname",       "host",      "local_infile",
    "pass",    "password",        "port",   "read_timeout", "reconnect", "service",
    "sslca",   "sslcert",         "sslkey", "unix_socket",  "user",      "write_timeout"};

/// Empty if there is none, or if it might be a part of a password.
std::string unknown_name_in(const connection_parameters& named) {
  for (const auto& [name, value] : named.all()) {
    if (name == "pass" || name == "password") break;
    if (std::ranges::find(known_to_soci, name) != known_to_soci.end()) continue;
    const bool is_name =
        name.size() <= 32 &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789-") == std::string::npos;
    return is_name ? name : "";
  }
  return {};
}

void refuse_missing_files(const connection_parameters& named) {
  for (const char* const name : {"sslca", "sslcert", "sslkey"}) {
    const auto file = named.value_of(name);
    if (!file || access(file->c_str(), R_OK) == 0) continue;
    throw error{errc::rejected, std::string{"the file that "} + name +
                                    " names is not there, or may not be read: correct its path"};
  }
}

/// In `host= password=x` SOCI reads `password=x` as the host, which then appears in messages of
/// SOCI and of the driver.
void refuse_missing_values(const connection_parameters& named) {
  for (const auto& each : named.all()) {
    const bool is_next_one = std::ranges::any_of(known_to_soci, [&](std::string_view known) {
      return each.second.starts_with(std::string{known} + '=');
    });
    if (!is_next_one || each.first == "pass" || each.first == "password") continue;
    throw error{errc::misuse,
                "a parameter of the connection string has no value: write one after "
                "its =, or leave the parameter out"};
  }
}

/// ` at host:port`, as far as they are given.
std::string place_of(const connection_parameters& named) {
  const auto socket = named.value_of("unix_socket");
  const auto host = named.value_of("host");
  if (socket && !socket->empty()) return " at " + *socket;
  if (!host || host->empty()) return {};
  return " at " + *host + ":" + named.value_of("port").value_or("3306");
}

error meaning_of(unsigned number, const std::string& said, const std::string& place) {
  // The driver has one number for all TLS errors, and uses it for connections that ended, too.
  if (number == 2026 && said.find("certificate") != std::string::npos) {
    return error{errc::rejected,
                 "the server" + place +
                     " does not agree with us on TLS: sslca must name the authority that "
                     "signed its certificate"};
  }
  if (const auto limit = reached_limit(number, said); !limit.empty()) {
    return error{errc::unavailable, "no connection to the server" + place + ": " + limit};
  }
  switch (number) {
    case 1044:
    case 1045:
    case 1049:
    case 1130:
    case 1251:
    case 1524:
    case 1698:
    case 1820:
    case 1862:
    case 2049:
    case 2059:
    case 3118:
    case 3159:
    case 3955:
    case 4150:
    case 4151:
      return error{errc::rejected,
                   "the server refuses the connection" + place + " (error " +
                       std::to_string(number) +
                       "): check user, password and database, and sslca for a user that must use "
                       "TLS"};
    default:
      return error{errc::unavailable,
                   "there is no connection to the server" + place + " (error " +
                       std::to_string(number) + "): check host and port, and whether it runs" +
                       (place.starts_with(" at localhost:")
                            ? "; for localhost the client uses the socket and ignores the port: "
                              "write 127.0.0.1 for TCP"
                            : "")};
  }
}

[[noreturn]] void throw_refused(unsigned number, const std::string& said,
                                const std::string& place) {
  try {
    throw ::soci::mysql_soci_error{shown_text(number, said), static_cast<int>(number)};
  } catch (const std::exception&) {
    const auto means = meaning_of(number, said, place);
    // Of the server, of all sessions of a user, and of a user's at once.
    const bool is_limit = number == 1040 || number == 1203 || number == 1226;
    if (is_limit) std::throw_with_nested(detail::no_connection_left{means});
    // The last two: after too many wrong passwords, on MySQL and on MariaDB.
    const bool is_login = number == 1045 || number == 1698 || number == 3955 || number == 4150;
    if (is_login) std::throw_with_nested(login_refused{means});
    std::throw_with_nested(means);
  }
}

}  // namespace

std::string checked_parameters(std::string parameters, const soci_options& options) {
  connection_parameters named{std::move(parameters)};
  refuse_missing_values(named);
  const auto reconnect = named.value_of("reconnect");
  if (reconnect && *reconnect != "0") {
    throw error{errc::misuse,
                "with reconnect=1 a session would lose settings and locks without a word: leave "
                "it out of the connection string"};
  }
  if (!named.value_of("sslca") && (named.value_of("sslcert") || named.value_of("sslkey"))) {
    throw error{errc::misuse,
                "SOCI ignores sslcert and sslkey without sslca, and the connection would not be "
                "encrypted: name sslca too"};
  }
  refuse_missing_files(named);
  const auto connect = std::to_string(options.connect_timeout.count());
  const auto answer = std::to_string(options.answer_timeout.count());
  named.add_unless_named("connect_timeout", connect);
  named.add_unless_named("read_timeout", answer);
  named.add_unless_named("write_timeout", answer);
  return named.text();
}

void throw_not_opened(const std::string& parameters) {
  const connection_parameters named{parameters};
  try {
    throw;
  } catch (const ::soci::mysql_soci_error& thrown) {
    throw_refused(thrown.err_num_, thrown.get_error_message(), place_of(named));
  } catch (const ::soci::soci_error&) {
    const auto unknown = unknown_name_in(named);
    throw error{errc::misuse,
                "SOCI does not take the connection string" +
                    (unknown.empty() ? "" : ", it knows no parameter " + unknown) +
                    ": write mysql://db=shop host=db "
                    "user=app, values with blanks in single quotes, or a URL, mysql://app@db/shop"};
  }
}

void refuse_without_tls(const connection& session) {
  if (!session.names_an_authority() || session.is_encrypted()) return;
  throw error{errc::rejected,
              "the connection is not encrypted, though sslca asks for it: turn TLS on in the "
              "server, and find out who is between if it is on"};
}

bool is_of_a_cluster(const result_set& settings) {
  return std::ranges::any_of(settings.rows, [](const result_set::row& row) {
    const auto value = row.at(1).value_or("");
    if (row.at(0) == "wsrep_on") return value == "ON";
    return row.at(0) == "group_replication_single_primary_mode" && value == "OFF";
  });
}

bool is_in_cluster_of_mysql(connection& session) {
  // Which connections lead to a server that has no such settings, by their number at the server.
  static detail::checked_mutex mutex;
  static const std::reference_wrapper known ROWLOCK_GUARDED_BY(mutex) =
      detail::never_destroyed<std::map<const void*, unsigned long>>();
  const auto number = session.number_at_the_server();
  {
    const detail::checked_lock lock{mutex};
    const auto& alone = known.get();
    const auto found = alone.find(session.handle());
    if (found != alone.end() && found->second == number) return false;
  }
  const auto settings = session.execute(sql::settings_of_clusters);
  if (!settings.rows.empty()) return is_of_a_cluster(settings);
  const detail::checked_lock lock{mutex};
  auto& alone = known.get();
  // Sessions that are closed stay in it; none of them costs more than one round trip again.
  if (alone.size() >= 10'000) alone.clear();
  alone[session.handle()] = number;
  return false;
}

namespace {

void refuse_tidb(std::string_view product) {
  if (product != "TiDB") return;
  throw error{errc::rejected,
              "the server is TiDB, whose SKIP LOCKED locks no row, so that two could get the same "
              "lock: connect to MariaDB or MySQL"};
}

}  // namespace

void refuse_unfit(const connection& session) {
  refuse_tidb(product_of(session.server_text()));
  const bool is_mariadb = session.flavour() == sql::flavour::mariadb;
  const auto oldest = is_mariadb ? 100600UL : 80019UL;
  if (session.server_version() >= oldest) return;
  throw error{errc::rejected,
              "the server is too old: rowlock needs MariaDB 10.6 or MySQL 8.0.19, or newer, so "
              "upgrade it or connect to another"};
}

void make_fit_for_a_migration(connection& session) {
  refuse_without_tls(session);
  refuse_unfit(session);
  session.execute(sql::read_committed_from_now_on);
  session.execute(pinning(sql::pin_migration, session.flavour()));
}

fit_session made_fit_for_a_store(::soci::session& session, const soci_options& options) {
  connection pinned{session};
  pinned.close_on_exec();
  pinned.keep_alive();
  if (pinned.reconnects()) {
    throw error{errc::misuse,
                "the session reconnects by itself, and would lose settings and locks without a "
                "word: leave reconnect=1 out of its connection string"};
  }
  refuse_without_tls(pinned);
  refuse_unfit(pinned);
  if (pinned.is_in_transaction()) {
    throw error{errc::misuse,
                "a session of the store's pool has an open transaction: end it, and leave the pool "
                "to the store alone"};
  }
  try {
    const auto server = pinned.flavour();
    const auto in_seconds = [](std::chrono::milliseconds limit) {
      return std::chrono::ceil<std::chrono::seconds>(limit).count();
    };
    // The first statements: sql_select_limit would hide rows of SHOW as well.
    pinned.execute(sql::read_committed_from_now_on);
    pinned.execute(pinning(server == sql::flavour::mariadb ? sql::pin_store_on_mariadb
                                                           : sql::pin_store_on_mysql,
                           server),
                   {in_seconds(options.statement_timeout), in_seconds(options.lock_timeout)});
    const auto settings = pinned.execute(sql::settings);
    for (const auto& row : settings.rows) {
      if (row.at(0) == "version_comment") refuse_tidb(product_of(row.at(1).value_or("")));
    }
    const auto skew = options.clock_skew.value_or(
        is_of_a_cluster(settings) ? skew_of_a_cluster : std::chrono::milliseconds::zero());
    return {pinned, skew};
  } catch (const std::exception&) {
    throw_as_error(effects::none, &options.table);
  }
}

namespace {

using settings = std::map<std::string, std::string, std::less<>>;

std::string_view value_of(const settings& shown, std::string_view name) {
  const auto found = shown.find(name);
  return found == shown.end() ? std::string_view{} : found->second;
}

}  // namespace

std::vector<std::string> weak_settings_in(const result_set& shown) {
  settings of_the_server;
  for (const auto& row : shown.rows) {
    of_the_server.emplace(row.at(0).value_or(""), row.at(1).value_or(""));
  }
  const auto is = [&](std::string_view name, std::string_view value) {
    return value_of(of_the_server, name) == value;
  };
  std::vector<std::string> weak;
  if (!is("innodb_flush_log_at_trx_commit", "1")) {
    weak.emplace_back(
        "innodb_flush_log_at_trx_commit is not 1 on this server: a crash can undo what it "
        "acknowledged, a grant too; set innodb_flush_log_at_trx_commit = 1");
  }
  if (is("log_bin", "ON") && !is("sync_binlog", "1")) {
    weak.emplace_back(
        "sync_binlog is not 1 on this server: after a crash its replicas, and one that is "
        "promoted, can lack what it acknowledged; set sync_binlog = 1");
  }
  const auto mode = value_of(of_the_server, "sql_mode");
  if (mode.find("STRICT_ALL_TABLES") == std::string_view::npos &&
      mode.find("STRICT_TRANS_TABLES") == std::string_view::npos) {
    weak.emplace_back(
        "sql_mode of this server is not strict: what sessions of the application write may be cut "
        "without an error (those of rowlock are strict); add STRICT_TRANS_TABLES");
  }
  if (is("autocommit", "OFF")) {
    weak.emplace_back(
        "autocommit is off on this server: a session that only looks keeps its transaction, and "
        "with it its row locks and an old view; set autocommit = ON");
  }
  if (is("innodb_rollback_on_timeout", "ON")) {
    weak.emplace_back(
        "innodb_rollback_on_timeout is on on this server: a lock wait that times out, of the "
        "application or of a row lock that is refused, ends the whole transaction, and what the "
        "session does next is outside of any; set innodb_rollback_on_timeout = OFF");
  }
  if (is("wsrep_on", "ON")) {
    weak.emplace_back(
        "this server is a node of a Galera cluster: row locks of one node are not seen by the "
        "others; use leases and the write fence, or let all write through one node");
  }
  if (is("group_replication_single_primary_mode", "OFF")) {
    weak.emplace_back(
        "this server is a member of a group with several primaries: row locks of one are not seen "
        "by the others; use leases and the write fence, or let all write through one of them");
  }
  return weak;
}

}  // namespace rowlock::mysql
