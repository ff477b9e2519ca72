// The file that a path names.
#include "sqlite/sqlite_file.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "rowlock/error.hpp"
#include "sql/sqlite_statements.hpp"

namespace rowlock::detail {

namespace {

/// Debian's SQLite takes `file:...` for a URI, and every SQLite `:memory:` for no file.
std::string as_plain_path(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    throw error{errc::misuse, "the path of a SQLite file is empty or contains a NUL byte"};
  }
  return path.front() == '/' ? path : "./" + path;
}

void check_file(const std::string& path) {
  std::error_code failed;
  const auto found = std::filesystem::status(path, failed);
  if (found.type() == std::filesystem::file_type::not_found) {
    throw error{errc::rejected,
                "there is no file " + path + ": run `rowlock migrate " + url_of(path) + "`"};
  }
  // What cannot be looked at cannot be opened either, and that says why.
  if (!failed && !std::filesystem::is_regular_file(found)) {
    throw error{errc::rejected, path + " is not a file: give the path of a SQLite database"};
  }
}

}  // namespace

std::string url_of(const std::string& path) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::error_code unknown_folder;
  const std::string absolute = std::filesystem::absolute(path, unknown_folder).lexically_normal();
  std::string url = "sqlite://";
  for (const char c : absolute) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7F ||
        std::string_view{"%?#\"'`$\\&;|<>()*"}.find(c) != std::string_view::npos) {
      url += '%';
      url += digits[byte >> 4U];
      url += digits[byte & 0x0FU];
    } else {
      url += c;
    }
  }
  return url;
}

std::string url_of(const SQLite::Database& database) {
  const char* const path = sqlite3_db_filename(database.getHandle(), "main");
  return path == nullptr || *path == '\0' ? "sqlite://" : url_of(std::string{path});
}

std::string file_of(const SQLite::Database& database) {
  const char* const path = sqlite3_db_filename(database.getHandle(), "main");
  // Databases in memory can have names too.
  struct stat found {};
  return path != nullptr && stat(path, &found) == 0 ? path : std::string{};
}

void create_file(const std::string& path) {
  // Without opening it: closing a file drops all locks that this process has on it (POSIX).
  if (mknod(as_plain_path(path).c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) == 0) return;
  const std::error_code failed{errno, std::generic_category()};
  if (failed == std::errc::file_exists) return;
  if (failed == std::errc::no_such_file_or_directory || failed == std::errc::not_a_directory) {
    throw error{errc::rejected, "the folder of " + path + " does not exist: create it first"};
  }
  throw error{errc::unavailable, "cannot create " + path + ": " + failed.message()};
}

std::unique_ptr<SQLite::Database> open_file(const std::string& path, patience& wait) {
  const std::string plain = as_plain_path(path);
  check_file(plain);
  auto opened = std::make_unique<SQLite::Database>(plain, SQLite::OPEN_READWRITE);
  prepare_connection(*opened);
  until_not_busy(wait, [&] {
    SQLite::Statement{*opened, std::string{sql::sqlite::journal_in_wal}}.executeStep();
  });
  return opened;
}

void prepare_connection(SQLite::Database& database) {
  if (sqlite3_db_readonly(database.getHandle(), "main") == 1) {
    throw error{errc::unavailable,
                url_of(database) +
                    ": the file is read-only: give this user write permission to the "
                    "file and its folder, and open it for writing"};
  }
  database.setBusyTimeout(0);
  database.exec(std::string{sql::sqlite::sync_every_commit});
}

}  // namespace rowlock::detail
