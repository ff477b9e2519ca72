// Connection strings, server versions and connection failures.
#include "postgres/connecting.hpp"

#include <libpq-fe.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "base/process.hpp"
#include "postgres/sql/session.hpp"
#include "rowlock/error.hpp"
#include "store/session.hpp"

namespace rowlock::postgres {

namespace {

using parsed_options = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

std::map<std::string, std::string> parse(const std::string& text) {
  char* complaint = nullptr;
  const parsed_options options{PQconninfoParse(text.c_str(), &complaint), &PQconninfoFree};
  PQfreemem(complaint);  // unread: it quotes the string
  if (options == nullptr || text.find('\0') != std::string::npos) {
    throw error{errc::misuse,
                "libpq does not understand the connection string: check it against "
                "postgresql://user:password@host:5432/database; in a URI, write the characters "
                "@ / : ? # % of user and password as %40 %2F %3A %3F %23 %25"};
  }
  std::map<std::string, std::string> values;
  for (const auto* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) values.emplace(option->keyword, option->val);
  }
  return values;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string{} : value;
}

bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

bool is_digit_or_comma(char c) { return (c >= '0' && c <= '9') || c == ','; }

bool is_plain_text(const std::string& text) {
  return std::all_of(text.begin(), text.end(), is_plain);
}

bool is_address_v6(char c) {
  return c == ':' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Host names and addresses, or the folder of a socket.
bool is_host(const std::string& text) {
  const auto all = [&](auto is_allowed) {
    return std::all_of(text.begin(), text.end(), is_allowed);
  };
  if (text.starts_with('/')) return all([](char c) { return is_plain(c) || c == '/'; });
  return all(is_address_v6) || all([](char c) { return is_plain(c) || c == ','; });
}

/// `-c name=value `, as the server takes it apart.
std::string option_of(std::string_view name, std::string_view value) {
  auto option = "-c " + std::string{name} + '=';
  for (const char c : value) {
    if (c == ' ') option += '\\';
    option += c;
  }
  return option + ' ';
}

}  // namespace

conninfo::conninfo(const std::string& text, const time_limits& limits)
    : given_{parse(text)}, values_{given_} {
  values_.emplace("fallback_application_name", "rowlock " + detail::holder_label());
  // Keys are bytes of UTF-8: under another encoding the same key would be another row.
  values_["client_encoding"] = "UTF8";
  // A service file has these settings itself, and a value set here would override it.
  if (names_a_service()) return;

  if (environment("PGCONNECT_TIMEOUT").empty()) {
    values_.emplace("connect_timeout", std::to_string(limits.connect.count()));
  }
  values_.emplace("tcp_user_timeout", std::to_string(limits.tcp_user.count()));
  values_.emplace("keepalives_idle", "30");
  values_.emplace("keepalives_interval", "10");
  values_.emplace("keepalives_count", "3");

  // The last setting counts: the user's options can override the time limits, not what statements
  // rest on.
  std::string options;
  if (limits.statement) {
    options = "-c statement_timeout=" + std::to_string(limits.statement->count()) + ' ';
  }
  if (limits.lock) options += "-c lock_timeout=" + std::to_string(limits.lock->count()) + ' ';
  const std::string users =
      values_.contains("options") ? value("options") : environment("PGOPTIONS");
  if (!users.empty()) options += users + ' ';
  for (const auto& each : sql::pinned_settings) options += option_of(each.name, each.value);
  options.pop_back();
  values_["options"] = options;
}

bool conninfo::names_a_service() const {
  return !value("service").empty() || !environment("PGSERVICE").empty();
}

std::string conninfo::value(const std::string& keyword) const {
  const auto found = values_.find(keyword);
  return found == values_.end() ? std::string{} : found->second;
}

std::string conninfo::text_of(const keywords& values) {
  std::string text;
  for (const auto& [keyword, value] : values) {
    text += keyword + "='";
    for (const char c : value) {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    }
    text += "' ";
  }
  return text;
}

std::string conninfo::text() const { return text_of(values_); }

std::string conninfo::text_without_options() const {
  auto values = values_;
  values.erase("options");
  if (const auto users = given_.find("options"); users != given_.end()) values.insert(*users);
  return text_of(values);
}

std::string conninfo::where() const {
  const auto host = value("host").empty() ? value("hostaddr") : value("host");
  const auto port = value("port");
  const auto database = value("dbname");
  // If one of them is odd, the text was split at the wrong places, and none can be trusted.
  if (!is_host(host) || !std::all_of(port.begin(), port.end(), is_digit_or_comma) ||
      !is_plain_text(database)) {
    return "the server of the connection string (its host, port or database looks odd: in a URI, "
           "write the characters @ / : ? # % of user and password as %40 %2F %3A %3F %23 %25)";
  }
  std::string shown = "PostgreSQL";
  if (!host.empty()) shown += " on host " + host;
  if (!port.empty()) shown += ", port " + port;
  if (!database.empty()) shown += ", database " + database;
  return shown;
}

namespace {

/// libpq gives no SQLSTATE for a failed connect, only a text.
struct known_failure {
  std::string_view text;
  errc code;
  std::string_view meaning;
  std::string_view subject = {};  // also in the message
  bool is_login = false;          // 28P01 or 28000, which a change of passwords or roles may cause
};

constexpr std::string_view bad_login = "refuses the login: check user and password";
constexpr std::string_view bad_port =
    "cannot be reached: the port is no number from 1 to 65535: correct it";
constexpr std::string_view no_tls = "does not agree with us on TLS: see sslmode and sslrootcert";
constexpr std::string_view is_full =
    "has no connection left, for all roles together: end idle sessions, let applications have "
    "smaller pools, or raise its max_connections";
constexpr std::string_view is_reserved =
    "has only connections left that it reserves for administrators: end idle sessions, let "
    "applications have smaller pools, or raise its max_connections";
constexpr std::string_view is_role_full =
    "has no connection left for this role: raise its limit with ALTER ROLE ... CONNECTION LIMIT, "
    "or make pool_size smaller";
constexpr std::string_view is_database_full =
    "has no connection left for this database: raise its limit with ALTER DATABASE ... CONNECTION "
    "LIMIT, or make pool_size smaller";
constexpr std::string_view is_pooler_full =
    "has no connection left in the pooler in front of it: raise max_client_conn of PgBouncer, or "
    "make pool_size smaller";
constexpr std::string_view is_closed =
    "closed the connection before the login was over: see its log, and what stands in between";
constexpr std::string_view is_away =
    "cannot be reached: check its host, and the network in between";
constexpr std::string_view is_another =
    "cannot be reached: what answers there is not PostgreSQL; check host and port, and what stands "
    "in between";

constexpr std::array known_failures{
    known_failure{"password authentication failed", errc::rejected, bad_login, {}, true},
    known_failure{"no password supplied", errc::rejected, bad_login, {}, true},
    known_failure{"authentication failed", errc::rejected, bad_login, {}, true},
    known_failure{"not permitted to log in", errc::rejected, bad_login, {}, true},
    known_failure{"pg_hba.conf", errc::rejected,
                  "does not let this user in from here: see its pg_hba.conf"},
    known_failure{"root certificate file", errc::rejected,
                  "cannot be verified: its root certificate is not there: see sslrootcert"},
    known_failure{"does not exist", errc::rejected,
                  "cannot be used: this user does not exist: CREATE ROLE ... LOGIN, or correct the "
                  "connection string",
                  "role \"", true},
    known_failure{"does not exist", errc::rejected,
                  "cannot be used: this database does not exist: create it, or correct the "
                  "connection string"},
    known_failure{"permission denied", errc::rejected,
                  "does not let this user into the database: GRANT CONNECT ON DATABASE ... TO ..."},
    known_failure{"SSL error", errc::rejected, no_tls},
    known_failure{"does not support SSL", errc::rejected,
                  "has no TLS, which sslmode demands: configure it there, or change sslmode"},
    known_failure{"certificate", errc::rejected, no_tls},
    known_failure{"the database system is", errc::unavailable,
                  "is starting, stopping or recovering"},
    known_failure{"session is read-only", errc::unavailable, "is read-only, a standby perhaps"},
    known_failure{"could not translate host name", errc::unavailable,
                  "cannot be reached: its host has no known address: check its name"},
    known_failure{
        "Connection refused", errc::unavailable,
        "cannot be reached: nothing listens there: check host and port, and whether it runs"},
    known_failure{"No such file or directory", errc::unavailable,
                  "cannot be reached: it has no socket there: start it, or name its host"},
    known_failure{"server closed the connection", errc::unavailable, is_closed},
    known_failure{"Connection reset", errc::unavailable, is_closed},
    known_failure{"No route to host", errc::unavailable, is_away},
    known_failure{"Network is unreachable", errc::unavailable, is_away},
    known_failure{"timeout expired", errc::unavailable,
                  "cannot be reached in time: check host and port, and the network in between"},
    known_failure{"timed out", errc::unavailable,
                  "cannot be reached in time: check host and port, and the network in between"},
    known_failure{"received invalid response", errc::unavailable, is_another},
    known_failure{"expected authentication request", errc::unavailable, is_another},
    known_failure{"authentication request from server", errc::unavailable, is_another},
    known_failure{"unexpected message from server", errc::unavailable, is_another},
    known_failure{"SCRAM message", errc::unavailable, is_another},
    known_failure{"Permission denied", errc::rejected,
                  "cannot be reached: this user may not open its socket: see its permissions"},
    known_failure{"invalid", errc::misuse, bad_port, "\"port\""},
    known_failure{"invalid port number", errc::misuse, bad_port},
    known_failure{"out of shared memory", errc::unavailable,
                  "takes no connection, as its table of locks is full: raise "
                  "max_locks_per_transaction, or end transactions that use many tables or keys"},
    known_failure{
        "invalid", errc::misuse,
        "cannot be reached: the connection string has an invalid value: correct it, perhaps "
        "sslmode or connect_timeout"},
};

/// What PostgreSQL and PgBouncer say where a limit of connections is reached.
constexpr std::array known_limits{
    std::pair{std::string_view{"too many connections for role"}, is_role_full},
    std::pair{std::string_view{"too many connections for database"}, is_database_full},
    std::pair{std::string_view{"no more connections allowed"}, is_pooler_full},
    std::pair{std::string_view{"connection slots are reserved"}, is_reserved},
    std::pair{std::string_view{"too many clients"}, is_full},
    std::pair{std::string_view{"too many connections"}, is_full}};

}  // namespace

void throw_failed_connect(const std::string& message, const std::string& where) {
  for (const auto& [text, meaning] : known_limits) {
    if (message.find(text) == std::string::npos) continue;
    throw detail::no_connection_left{where + ' ' + std::string{meaning}};
  }
  for (const auto& known : known_failures) {
    if (message.find(known.text) != std::string::npos &&
        message.find(known.subject) != std::string::npos) {
      const auto meaning = where + ' ' + std::string{known.meaning};
      if (known.is_login) throw login_refused{error{known.code, meaning}};
      throw error{known.code, meaning};
    }
  }
  throw error{errc::unavailable,
              where + " cannot be reached: psql with the same connection string may say more"};
}

void refuse_old(int version) {
  constexpr int oldest = 130000;  // the fence calls pg_current_xact_id_if_assigned()
  if (version == 0 || version >= oldest) return;
  throw error{errc::rejected,
              "the server is too old: rowlock needs PostgreSQL 13 or newer, so upgrade it or "
              "connect to another"};
}

}  // namespace rowlock::postgres
