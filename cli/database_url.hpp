// Database URLs, and the stores that they name.
#ifndef ROWLOCK_CLI_DATABASE_URL_HPP
#define ROWLOCK_CLI_DATABASE_URL_HPP

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rowlock/port/store.hpp"
#include "rowlock/table_name.hpp"

namespace rowlock {

/// One of
///
///   sqlite:///absolute/path.db      %XX stands for a byte; `?` and `#` must be written so
///   postgresql://host/database      (or postgres://) libpq's own URIs, passed on unchanged
///   host=... dbname=...             libpq's keyword strings, likewise
///   mysql://user@host:port/database (or mariadb://) as `soci_connection_string` reads it
///   soci:mysql://db=... user=...    what SOCI reads, with one of its backends
///
/// The text may contain a password: no message shows it.
class database_url {
 public:
  enum class engine { sqlite, postgresql, soci };

  /// Throws `error` (misuse) that says what is wrong. Only parses the text; opens nothing.
  // NOLINTBEGIN(google-explicit-constructor): a text is valid wherever a URL is
  database_url(std::string_view text);
  database_url(const std::string& text) : database_url{std::string_view{text}} {}
  database_url(const char* text) : database_url{std::string_view{text}} {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] engine which() const noexcept { return which_; }
  /// The file's path, or the connection string of libpq or SOCI.
  [[nodiscard]] const std::string& target() const noexcept { return target_; }

 private:
  engine which_;
  std::string target_;
};

/// The store with its default options. Opens nothing yet. `url_now`, if any, returns the URL to
/// connect to from now on, after a refused login.
std::unique_ptr<store> open_store(const database_url& url, const table_name& table = {},
                                  const std::function<database_url()>& url_now = {});

/// Applies missing migrations and returns them; see `migrate_postgres`. Throws `error`.
std::vector<migration> migrate(const database_url& url, const table_name& table = {},
                               history_option history = history_option::unchanged);

/// All migrations for this kind of database, in order.
std::vector<migration> migrations_for(const database_url& url, const table_name& table = {});

/// The history for this kind of database.
migration history_for(const database_url& url, const table_name& table = {});

}  // namespace rowlock

#endif
