// The SQLite files that this process has open, and those that were open at a fork().
#include "sqlite/open_files.hpp"

#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "base/never_destroyed.hpp"
#include "rowlock/detail/checked_mutex.hpp"
#include "rowlock/detail/home_process.hpp"
#include "rowlock/error.hpp"
#include "sqlite/database_file.hpp"
#include "sqlite/sql/transactions.hpp"
#include "sqlite/statement.hpp"

namespace rowlock::sqlite {

namespace {

struct open_file {
  sqlite3* connection;
  dev_t device;
  ino_t inode;
  unsigned forks;  // before it was noted
};

struct open_files {
  open_files() {
    // So that no child inherits the mutex in the hands of a thread that it does not have.
    pthread_atfork([]() ROWLOCK_UNCHECKED { known().mutex.lock(); },
                   []() ROWLOCK_UNCHECKED { known().mutex.unlock(); },
                   []() ROWLOCK_UNCHECKED { known().mutex.unlock(); });
  }

  static open_files& known() {
    static const std::reference_wrapper files = detail::never_destroyed<open_files>();
    return files;
  }

  detail::checked_mutex mutex;
  std::vector<open_file> all ROWLOCK_GUARDED_BY(mutex);
};

bool was_open_at_fork(const open_file& file) noexcept { return file.forks != detail::forks(); }

[[noreturn]] void throw_open_at_fork(const std::string& url) {
  throw error{errc::misuse,
              url +
                  " was open before the fork() that made this process, and SQLite's locks on it "
                  "stayed with the parent: open the file after the fork() only (before it, destroy "
                  "every store and close every connection), or exec() another program"};
}

/// Where the paths lead, however they are written. A database in memory may have a path, too.
std::vector<open_file> files_at(const std::vector<std::string>& paths, sqlite3* connection) {
  std::vector<open_file> files;
  for (const auto& path : paths) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0) continue;
    files.push_back({connection, found.st_dev, found.st_ino, detail::forks()});
  }
  return files;
}

bool is_same(const open_file& one, const open_file& other) noexcept {
  return one.inode == other.inode && one.device == other.device;
}

bool is_noted(const std::vector<open_file>& known, const open_file& file) {
  return std::ranges::any_of(known, [&](const open_file& each) {
    return each.connection == file.connection && is_same(each, file);
  });
}

bool was_any_open_at_fork(const std::vector<open_file>& known,
                          const std::vector<open_file>& files) {
  return std::ranges::any_of(files, [&](const open_file& file) {
    return std::ranges::any_of(known, [&](const open_file& each) {
      return is_same(each, file) && was_open_at_fork(each);
    });
  });
}

std::vector<std::string> paths_of(sqlite3* database) {
  std::vector<std::string> paths;
  statement each{database, sql::databases_of_connection};
  while (each.has_next_row()) paths.push_back(each.text(2));
  return paths;
}

void no_function(sqlite3_context* /*called*/, int /*count*/, sqlite3_value** /*values*/) {}

void forget(void* connection) noexcept {
  auto& known = open_files::known();
  const detail::checked_lock lock{known.mutex};
  std::erase_if(known.all, [&](const open_file& each) { return each.connection == connection; });
}

/// SQLite reports no end of a connection, but destroys its functions then, after its files are
/// closed.
void forget_when_closed(sqlite3* database) {
  const int made = sqlite3_create_function_v2(database, "rowlock_connection", 0, SQLITE_UTF8,
                                              database, no_function, nullptr, nullptr, forget);
  if (made != SQLITE_OK) throw failure{made, sqlite3_errmsg(database)};
}

}  // namespace

void refuse_open_at_fork(const std::string& path) {
  auto& known = open_files::known();
  const detail::checked_lock lock{known.mutex};
  if (was_any_open_at_fork(known.all, files_at({path}, nullptr))) throw_open_at_fork(url_of(path));
}

void note_open(sqlite3* database) {
  auto& known = open_files::known();
  const auto is_ours = [&](const open_file& each) { return each.connection == database; };
  {
    const detail::checked_lock lock{known.mutex};
    const auto noted = std::ranges::find_if(known.all, is_ours);
    if (noted != known.all.end() && was_open_at_fork(*noted)) throw_open_at_fork(url_of(database));
  }
  // Each time: another file may have been attached since.
  const auto paths = paths_of(database);
  bool is_first = false;
  {
    const detail::checked_lock lock{known.mutex};
    auto files = files_at(paths, database);
    std::erase_if(files, [&](const open_file& file) {
      known.mutex.assume_locked();
      return is_noted(known.all, file);
    });
    if (files.empty()) return;
    if (was_any_open_at_fork(known.all, files)) throw_open_at_fork(url_of(database));
    is_first = std::ranges::none_of(known.all, is_ours);
    known.all.insert(known.all.end(), files.begin(), files.end());
  }
  if (is_first) forget_when_closed(database);
}

}  // namespace rowlock::sqlite
