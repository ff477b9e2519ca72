// What a URL may look like, and which store it stands for.
#include "cli/database_url.hpp"

#include <cctype>
#include <utility>

#include "rowlock/error.hpp"
#include "rowlock/postgres_migrate.hpp"
#include "rowlock/postgres_store.hpp"
#include "rowlock/sqlite_migrate.hpp"
#include "rowlock/sqlite_store.hpp"

namespace rowlock {

namespace {

constexpr std::string_view known_urls =
    "sqlite:///absolute/path, postgresql://..., or libpq keywords such as host=... dbname=...";

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

}  // namespace

database_url::database_url(std::string_view text) : which_{engine::postgresql}, target_{text} {
  if (is_keyword_string(text)) return;
  const std::string_view scheme = scheme_of(text);
  if (scheme == "postgresql" || scheme == "postgres") return;
  if (scheme == "sqlite") {
    which_ = engine::sqlite;
    target_ = sqlite_path(text.substr(scheme.size() + 3));
    return;
  }
  std::string why = "this is no URL of a database: write ";
  if (!scheme.empty()) why = "unknown kind of database " + std::string{scheme} + "://: write ";
  refuse(why += known_urls);
}

std::unique_ptr<store> open_store(const database_url& url, const table_name& table) {
  if (url.which() == database_url::engine::sqlite) {
    return std::make_unique<sqlite_store>(url.target(), sqlite_options{.table = table});
  }
  return std::make_unique<postgres_store>(url.target(), postgres_options{.table = table});
}

std::vector<migration> migrate(const database_url& url, const table_name& table) {
  return url.which() == database_url::engine::sqlite ? migrate_sqlite(url.target(), table)
                                                     : migrate_postgres(url.target(), table);
}

std::vector<migration> migrations_for(const database_url& url, const table_name& table) {
  return url.which() == database_url::engine::sqlite ? sqlite_migrations(table)
                                                     : postgres_migrations(table);
}

}  // namespace rowlock
