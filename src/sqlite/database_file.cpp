// The database file: its path, WAL, network file systems, replacement.
#include "sqlite/database_file.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "rowlock/error.hpp"
#include "sqlite/open_files.hpp"
#include "sqlite/sql/transactions.hpp"
#include "sqlite/statement.hpp"

namespace rowlock::sqlite {

namespace {

/// Debian's SQLite reads `file:...` as a URI, and every SQLite reads `:memory:` as no file.
std::string as_plain_path(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    throw error{errc::misuse, "the path of a SQLite file is empty or contains a NUL byte"};
  }
  if (path.starts_with("sqlite://")) {
    throw error{errc::misuse, path + " is a URL: give the path of the file, without sqlite://"};
  }
  return path.front() == '/' ? path : "./" + path;
}

void check_file(const std::string& path) {
  std::error_code failed;
  const auto found = std::filesystem::status(path, failed);
  if (found.type() == std::filesystem::file_type::not_found) {
    if (std::filesystem::path{path}.filename() == ":memory:") {
      throw error{errc::rejected,
                  "there is no file " + path +
                      ", and a database in memory is none, which no other process would see: give "
                      "the path of a file, or use memory_store in tests"};
    }
    throw error{errc::rejected,
                "there is no file " + path + ": run `rowlock migrate " + url_of(path) + "`"};
  }
  // If the status cannot be read, opening fails as well, and reports the reason.
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

std::string url_of(sqlite3* database) {
  const auto path = path_of(database);
  return path.empty() ? "sqlite://" : url_of(path);
}

std::string path_of(sqlite3* database) {
  const char* const path = sqlite3_db_filename(database, "main");
  return path == nullptr ? "" : path;
}

std::string file_of(sqlite3* database) {
  auto path = path_of(database);
  // A database in memory can have a name, too.
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? path : std::string{};
}

void create_file(const std::string& path) {
  // Does not open the file: closing it would drop all locks that this process has on it (POSIX).
  if (mknod(as_plain_path(path).c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) == 0) return;
  const std::error_code failed{errno, std::generic_category()};
  if (failed == std::errc::file_exists) return;
  if (failed == std::errc::no_such_file_or_directory || failed == std::errc::not_a_directory) {
    throw error{errc::rejected, "the folder of " + path + " does not exist: create it first"};
  }
  throw error{errc::unavailable, "cannot create " + path + ": " + failed.message()};
}

std::string as_existing_file(const std::string& path) {
  std::string plain = as_plain_path(path);
  check_file(plain);
  refuse_open_at_fork(plain);
  return plain;
}

std::string uri_of_unwritable(const std::string& path) {
  std::error_code unknown;
  if (faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0) return {};
  if (std::filesystem::exists(path + "-wal", unknown) || unknown) return {};
  return "file://" + url_of(path).substr(std::string_view{"sqlite://"}.size()) + "?immutable=1";
}

bool has_moved(sqlite3* database) {
  int moved = 0;
  const int known = sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return known == SQLITE_OK && moved != 0;
}

bool is_read_only(sqlite3* database) noexcept { return sqlite3_db_readonly(database, "main") == 1; }

void require_writable(sqlite3* database) {
  if (!is_read_only(database)) return;
  throw error{errc::unavailable, url_of(database) +
                                     ": the file is read-only: give this user write permission to "
                                     "the file and its folder, and open it for writing"};
}

void prepare_connection(sqlite3* database) {
  note_open(database);
  sqlite3_busy_timeout(database, 0);
  execute(database, sql::pin_connection);
  // The history's: a connection may have turned them off.
  (void)sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, nullptr);
}

void switch_to_wal(sqlite3* database, busy_wait& wait) {
  if (is_read_only(database)) return;
  until_not_busy(wait, [&] { execute(database, sql::journal_in_wal); });
}

namespace {

struct file_system {
  std::uint32_t type;  // statfs(2); some are in no header
  const char* name;
};

constexpr std::array shared_by_machines{
    file_system{0x00006969, "NFS"},        file_system{0x0000517B, "SMB"},
    file_system{0xFE534D42, "SMB"},        file_system{0xFF534D42, "CIFS"},
    file_system{0x65735546, "FUSE"},       file_system{0x01021997, "9p"},
    file_system{0x5346414F, "AFS"},        file_system{0x6B414653, "AFS"},
    file_system{0x00C36400, "Ceph"},       file_system{0x73757245, "Coda"},
    file_system{0x0BD00BD0, "Lustre"},     file_system{0x47504653, "GPFS"},
    file_system{0x01161970, "GFS2"},       file_system{0x7461636F, "OCFS2"},
    file_system{0x786F4256, "VirtualBox"},
};

}  // namespace

void refuse_network_file_system(const std::string& file) {
  struct statfs found {};
  if (statfs(file.c_str(), &found) != 0) return;
  // `f_type` is signed on some machines.
  const auto type = static_cast<std::uint32_t>(found.f_type);
  const auto* const known = std::ranges::find(shared_by_machines, type, &file_system::type);
  if (known == shared_by_machines.end()) return;
  throw error{errc::rejected,
              file + " is on a network file system (" + known->name +
                  "), where SQLite's locks cannot be relied on: move it to a local disk, or use "
                  "PostgreSQL; if only one machine uses it and its locks work, set "
                  "the option allow_network_file_system"};
}

}  // namespace rowlock::sqlite
