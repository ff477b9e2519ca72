// Parser of database URLs, and the store for each kind.
#include "cli/database_url.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "rowlock/error.hpp"
#include "rowlock/postgres_store.hpp"
#include "rowlock/soci_store.hpp"
#include "rowlock/sqlite_store.hpp"

namespace rowlock {

namespace {

using engine = database_url::engine;

constexpr std::string_view known_urls =
    "sqlite:///absolute/path, postgresql://..., mysql://user@host/database, libpq keywords such as "
    "host=... dbname=..., or soci:backend://... as SOCI reads it";
constexpr std::string_view soci_prefix = "soci:";

[[noreturn]] void refuse(const std::string& why) { throw error{errc::misuse, why}; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// `host=db dbname=shop`: it begins with a keyword. Checked before the scheme, because a password
/// may contain `://`.
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
  return std::all_of(scheme.begin(), scheme.end(), is_letter) ? scheme : std::string_view{};
}

std::string sqlite_path(std::string_view after_scheme) {
  if (after_scheme.empty() || after_scheme.front() != '/') {
    refuse("the path of a SQLite URL is absolute: sqlite:///path/to/file, with three slashes");
  }
  if (after_scheme.find_first_of("?#") != std::string_view::npos) {
    refuse("a SQLite URL has no parameters; in a path write %3F for ? and %23 for #");
  }
  std::string path = detail::percent_decoded(after_scheme);
  if (path.back() == '/') refuse("a SQLite URL names a file, not a folder: sqlite:///path/to/file");
  return path;
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
    target_ = soci_connection_string(text);
    return;
  }
  std::string why = "this is no URL of a database: write ";
  if (!scheme.empty()) why = "unknown kind of database " + std::string{scheme} + "://: write ";
  refuse(why += known_urls);
}

std::unique_ptr<store> open_store(const database_url& url, const table_name& table,
                                  const std::function<database_url()>& url_now) {
  std::function<std::string()> target_now;
  if (url_now) {
    target_now = [url_now, which = url.which()] {
      const auto now = url_now();
      if (now.which() != which) refuse("the URL names another kind of database now");
      return now.target();
    };
  }
  if (url.which() == engine::sqlite) {
    return std::make_unique<sqlite_store>(url.target(), sqlite_options{.table = table});
  }
  if (url.which() == engine::soci) {
    return std::make_unique<soci_store>(
        url.target(), soci_options{.table = table, .connection_string_now = target_now});
  }
  return std::make_unique<postgres_store>(
      url.target(), postgres_options{.table = table, .connection_string_now = target_now});
}

std::vector<migration> migrate(const database_url& url, const table_name& table,
                               history_option history) {
  if (url.which() == engine::sqlite) return migrate_sqlite(url.target(), table, history);
  if (url.which() == engine::soci) return migrate_soci(url.target(), table, history);
  return migrate_postgres(url.target(), table, history);
}

std::vector<migration> migrations_for(const database_url& url, const table_name& table) {
  if (url.which() == engine::sqlite) return sqlite_migrations(table);
  if (url.which() == engine::soci) return soci_migrations(url.target(), table);
  return postgres_migrations(table);
}

migration history_for(const database_url& url, const table_name& table) {
  if (url.which() == engine::sqlite) return sqlite_history(table);
  if (url.which() == engine::soci) return soci_history(url.target(), table);
  return postgres_history(table);
}

}  // namespace rowlock
