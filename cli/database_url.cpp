// What a URL may look like, and which store it stands for.
#include "cli/database_url.hpp"

#include <cctype>
#include <utility>

#include "rowlock/error.hpp"
#include "rowlock/postgres_migrate.hpp"
#include "rowlock/postgres_store.hpp"
#include "rowlock/soci_migrate.hpp"
#include "rowlock/soci_store.hpp"
#include "rowlock/sqlite_migrate.hpp"
#include "rowlock/sqlite_store.hpp"

namespace rowlock {

namespace {

constexpr std::string_view known_urls =
    "sqlite:///absolute/path, postgresql://..., mysql://user@host/database, libpq keywords such as "
    "host=... dbname=..., or soci:backend://... as SOCI reads it";
constexpr std::string_view soci_prefix = "soci:";

[[noreturn]] void refuse(const std::string& why) { throw error{errc::misuse, why}; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// `host=db dbname=shop`: what comes first is a keyword. Asked before the scheme, because a
/// password may contain `://`.
bool is_keyword_string(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos || !is_letter(text[begin])) return false;
  auto end = begin;
  while (end < text.size() && (is_letter(text[end]) || text[end] == '_')) ++end;
  end = text.find_first_not_of(" \t\n", end);
  return end != std::string_view::npos && text[end] == '=';
}

std::string_view scheme_of(std::string_view text) {
  const auto end = text.find("://");
  if (end == std::string_view::npos) return {};
  const std::string_view scheme = text.substr(0, end);
  for (const char c : scheme) {
    if (!is_letter(c)) return {};
  }
  return scheme;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      decoded += text[at];
      continue;
    }
    const int high = at + 1 < text.size() ? hex_digit(text[at + 1]) : -1;
    const int low = at + 2 < text.size() ? hex_digit(text[at + 2]) : -1;
    if (high < 0 || low < 0) {
      refuse(
          "in the URL a % must be followed by two hexadecimal digits; write %25 for the % itself");
    }
    decoded += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return decoded;
}

std::string sqlite_path(std::string_view after_scheme) {
  if (after_scheme.empty() || after_scheme.front() != '/') {
    refuse("the path of a SQLite URL is absolute: sqlite:///path/to/file, with three slashes");
  }
  if (after_scheme.find_first_of("?#") != std::string_view::npos) {
    refuse("a SQLite URL has no parameters; in a path write %3F for ? and %23 for #");
  }
  std::string path = percent_decoded(after_scheme);
  if (path.find('\0') != std::string::npos) refuse("the path of a SQLite URL contains a NUL byte");
  if (path.back() == '/') refuse("a SQLite URL names a file, not a folder: sqlite:///path/to/file");
  return path;
}

/// `name='value'` as SOCI reads it, after a blank; nothing for an empty value.
std::string soci_parameter(const std::string& name, std::string_view value) {
  const std::string decoded = percent_decoded(value);
  if (decoded.empty()) return {};
  if (decoded.find('\0') != std::string::npos) refuse("the URL contains a NUL byte");
  std::string parameter = ' ' + name + "='";
  for (const char c : decoded) {
    if (c == '\'' || c == '\\') parameter += '\\';
    parameter += c;
  }
  return parameter + '\'';
}

/// Up to the separator, which is taken away too; all of it where there is none.
std::string_view take_up_to(std::string_view& text, std::size_t separator) {
  const auto taken = text.substr(0, separator);
  text.remove_prefix(separator == std::string_view::npos ? text.size() : separator + 1);
  return taken;
}

/// `user:password@host:port/database`, every part optional.
std::string soci_target_of_mysql(std::string_view after_scheme) {
  if (after_scheme.find_first_of("?#") != std::string_view::npos) {
    refuse(
        "a MySQL URL has no parameters: write soci:mysql://... for what SOCI knows of; in a "
        "name or password write %3F for ? and %23 for #");
  }
  const auto slash = after_scheme.find('/');
  auto server = take_up_to(after_scheme, slash);
  const auto database = after_scheme;
  std::string_view user;
  std::string_view password;
  if (const auto at = server.rfind('@'); at != std::string_view::npos) {
    password = take_up_to(server, at);
    user = take_up_to(password, password.find(':'));
  }
  std::string_view port;
  if (const auto colon = server.rfind(':');
      colon != std::string_view::npos && server.find(']', colon) == std::string_view::npos) {
    port = server.substr(colon + 1);
    server = server.substr(0, colon);
  }
  if (server.starts_with('[') && server.ends_with(']')) {
    server = server.substr(1, server.size() - 2);
  }
  if (port.find_first_not_of("0123456789") != std::string_view::npos || port.size() > 5) {
    refuse("the port in the URL is not a number; in a password write %40 for @ and %2F for /");
  }
  return "mysql://" + soci_parameter("host", server) + soci_parameter("port", port) +
         soci_parameter("user", user) + soci_parameter("password", password) +
         soci_parameter("dbname", database);
}

}  // namespace

database_url::database_url(std::string_view text) : which_{engine::postgresql}, target_{text} {
  if (text.starts_with(soci_prefix)) {
    which_ = engine::soci;
    target_ = text.substr(soci_prefix.size());
    return;
  }
  if (is_keyword_string(text)) return;
  const std::string_view scheme = scheme_of(text);
  if (scheme == "postgresql" || scheme == "postgres") return;
  if (scheme == "sqlite") {
    which_ = engine::sqlite;
    target_ = sqlite_path(text.substr(scheme.size() + 3));
    return;
  }
  if (scheme == "mysql" || scheme == "mariadb") {
    which_ = engine::soci;
    target_ = soci_target_of_mysql(text.substr(scheme.size() + 3));
    return;
  }
  std::string why = "this is no URL of a database: write ";
  if (!scheme.empty()) why = "unknown kind of database " + std::string{scheme} + "://: write ";
  refuse(why += known_urls);
}

std::unique_ptr<store> open_store(const database_url& url, const table_name& table) {
  switch (url.which()) {
    case database_url::engine::sqlite:
      return std::make_unique<sqlite_store>(url.target(), sqlite_options{.table = table});
    case database_url::engine::soci:
      return std::make_unique<soci_store>(url.target(), soci_options{.table = table});
    case database_url::engine::postgresql:
      break;
  }
  return std::make_unique<postgres_store>(url.target(), postgres_options{.table = table});
}

std::vector<migration> migrate(const database_url& url, const table_name& table) {
  switch (url.which()) {
    case database_url::engine::sqlite:
      return migrate_sqlite(url.target(), table);
    case database_url::engine::soci:
      return migrate_soci(url.target(), table);
    case database_url::engine::postgresql:
      break;
  }
  return migrate_postgres(url.target(), table);
}

std::vector<migration> migrations_for(const database_url& url, const table_name& table) {
  switch (url.which()) {
    case database_url::engine::sqlite:
      return sqlite_migrations(table);
    case database_url::engine::soci:
      return soci_migrations(url.target(), table);
    case database_url::engine::postgresql:
      break;
  }
  return postgres_migrations(table);
}

}  // namespace rowlock
