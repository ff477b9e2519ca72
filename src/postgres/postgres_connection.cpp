// One connection of a store.
#include "postgres/postgres_connection.hpp"

#include <poll.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "postgres/execute.hpp"
#include "postgres/postgres_errors.hpp"
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
                  "cannot be reached: its host has no known address"},
    known_failure{"Connection refused", errc::unavailable,
                  "cannot be reached: nothing listens there"},
    known_failure{"timeout expired", errc::unavailable, "cannot be reached in time"},
    known_failure{"timed out", errc::unavailable, "cannot be reached in time"},
    known_failure{"invalid", errc::misuse,
                  "cannot be reached: the connection string has an invalid value"},
};

/// A pooler that does not know what to do with `options`.
bool is_about_options(std::string_view words) {
  return words.find("startup parameter") != std::string_view::npos;
}

/// The words of a failure; none when it worked.
std::string try_to_connect(const std::string& text, std::shared_ptr<pqxx::connection>& opened) {
  try {
    opened = std::make_shared<pqxx::connection>(text);
    return {};
  } catch (const pqxx::failure& thrown) {
    const std::string words = thrown.what();
    return words.empty() ? "unknown" : words;
  }
}

/// The same text has the same name everywhere, and another text another one: behind a pooler others
/// may have prepared theirs on the connection that we are given.
std::string name_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return "rowlock_" + std::to_string(hash);
}

}  // namespace

void throw_failed_connect(const std::string& words, const std::string& where) {
  for (const auto& known : known_failures) {
    if (words.find(known.words) != std::string::npos) {
      throw error{known.code, where + ' ' + std::string{known.meaning}};
    }
  }
  throw error{errc::unavailable, where + " cannot be reached"};
}

std::shared_ptr<pqxx::connection> connect(const conninfo& to) {
  std::shared_ptr<pqxx::connection> opened;
  std::string words = try_to_connect(to.text(), opened);
  if (is_about_options(words)) words = try_to_connect(to.text_without_options(), opened);
  if (opened == nullptr) throw_failed_connect(words, to.where());
  return opened;
}

postgres_connection::postgres_connection(std::shared_ptr<pqxx::connection> opened,
                                         may_prepare& names, answer_watch& answers)
    : connection_{std::move(opened)}, names_{names}, answers_{answers} {}

const std::string& postgres_connection::prepared(const std::string& sql) {
  const auto found = prepared_.find(&sql);
  if (found != prepared_.end()) return found->second;
  const auto name = name_of(sql);
  connection_->prepare(name, sql);
  return prepared_.emplace(&sql, name).first->second;
}

answer postgres_connection::execute(const std::string& sql, const bound_values& values) {
  if (names_) {
    try {
      const auto watched = answers_.watch(connection_->sock());
      pqxx::nontransaction autocommit{*connection_};
      return execute_prepared(autocommit, prepared(sql), values);
    } catch (const std::exception& thrown) {
      if (!fault_in(thrown).is_prepared_statement_astray()) throw;
      names_ = false;
    }
  }
  return execute_unnamed(sql, values);
}

answer postgres_connection::execute_unnamed(const std::string& sql, const bound_values& values) {
  const auto watched = answers_.watch(connection_->sock());
  pqxx::nontransaction autocommit{*connection_};
  return postgres::execute(autocommit, sql, values);
}

fault postgres_connection::fault_in(const std::exception& thrown) const {
  return postgres::fault_in(thrown);
}

void postgres_connection::pin(const std::string& sql,
                              std::optional<std::chrono::milliseconds> statement_timeout) {
  const auto limit =
      statement_timeout ? std::optional{std::int64_t{statement_timeout->count()}} : std::nullopt;
  execute_unnamed(sql, bound_values{connection_->backendpid(), limit});
}

bool postgres_connection::is_alive() const {
  if (!connection_->is_open()) return false;
  // Nobody asked anything, so whatever is there to be read is the end, or news of it.
  pollfd socket{.fd = connection_->sock(), .events = POLLIN, .revents = 0};
  return poll(&socket, 1, 0) == 0;
}

}  // namespace rowlock::postgres
