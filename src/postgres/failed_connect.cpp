// What it means when no connection came about.
#include "postgres/failed_connect.hpp"

#include <array>
#include <string_view>

#include "rowlock/error.hpp"

namespace rowlock::postgres {

namespace {

/// libpq gives no SQLSTATE for a connection that could not be made: only words.
struct known_failure {
  std::string_view words;
  errc code;
  std::string_view meaning;
};

constexpr std::string_view bad_login = "refuses the login: check user and password";
constexpr std::string_view no_tls = "does not agree with us on TLS: see sslmode and sslrootcert";
constexpr std::string_view is_full = "has no connection left: raise its max_connections";
constexpr std::string_view is_another =
    "cannot be reached: what answers there is not PostgreSQL; check host and port, and what stands "
    "in between";

constexpr std::array known_failures{
    known_failure{"password authentication failed", errc::rejected, bad_login},
    known_failure{"no password supplied", errc::rejected, bad_login},
    known_failure{"authentication failed", errc::rejected, bad_login},
    known_failure{"not permitted to log in", errc::rejected, bad_login},
    known_failure{"pg_hba.conf", errc::rejected,
                  "does not let this user in from here: see its pg_hba.conf"},
    known_failure{"does not exist", errc::rejected,
                  "has no such user or database: create it, or correct the connection string"},
    known_failure{"permission denied", errc::rejected,
                  "does not let this user into the database: GRANT CONNECT ON DATABASE ... TO ..."},
    known_failure{"SSL error", errc::rejected, no_tls},
    known_failure{"does not support SSL", errc::rejected, no_tls},
    known_failure{"certificate", errc::rejected, no_tls},
    known_failure{"too many", errc::unavailable, is_full},
    known_failure{"connection slots", errc::unavailable, is_full},
    known_failure{"the database system is", errc::unavailable,
                  "is starting, stopping or recovering"},
    known_failure{"session is read-only", errc::unavailable, "is read-only, a standby perhaps"},
    known_failure{"could not translate host name", errc::unavailable,
                  "cannot be reached: its host has no known address: check its name"},
    known_failure{
        "Connection refused", errc::unavailable,
        "cannot be reached: nothing listens there: check host and port, and whether it runs"},
    known_failure{"timeout expired", errc::unavailable,
                  "cannot be reached in time: check host and port, and the network in between"},
    known_failure{"timed out", errc::unavailable,
                  "cannot be reached in time: check host and port, and the network in between"},
    known_failure{"received invalid response", errc::unavailable, is_another},
    known_failure{"expected authentication request", errc::unavailable, is_another},
    known_failure{"authentication request from server", errc::unavailable, is_another},
    known_failure{"unexpected message from server", errc::unavailable, is_another},
    known_failure{"SCRAM message", errc::unavailable, is_another},
    known_failure{"invalid", errc::misuse,
                  "cannot be reached: the connection string has an invalid value"},
};

}  // namespace

void throw_failed_connect(const std::string& words, const std::string& where) {
  for (const auto& known : known_failures) {
    if (words.find(known.words) != std::string::npos) {
      throw error{known.code, where + ' ' + std::string{known.meaning}};
    }
  }
  throw error{errc::unavailable, where + " cannot be reached"};
}

}  // namespace rowlock::postgres
