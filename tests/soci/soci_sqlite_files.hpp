// SQLite files and sessions of SOCI on them.
#ifndef ROWLOCK_TESTS_SOCI_SOCI_SQLITE_FILES_HPP
#define ROWLOCK_TESTS_SOCI_SOCI_SQLITE_FILES_HPP

#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <memory>
#include <string>

#include "rowlock/soci_store.hpp"
#include "sqlite/sqlite_files.hpp"

namespace rowlock::tests {

class soci_sqlite_test : public sqlite_test {
 protected:
  [[nodiscard]] std::string url() const { return "sqlite3://" + path(); }

  /// A session of the application.
  [[nodiscard]] std::unique_ptr<soci::session> session() const {
    return std::make_unique<soci::session>(soci::sqlite3, path());
  }

  /// A pool of the application with one session, on `name`.
  [[nodiscard]] static std::unique_ptr<soci::connection_pool> pool_on(const std::string& name) {
    auto pool = std::make_unique<soci::connection_pool>(1);
    pool->at(0).open(soci::sqlite3, name);
    return pool;
  }
};

class migrated_soci_sqlite_test : public soci_sqlite_test {
 protected:
  migrated_soci_sqlite_test() { migrate_sqlite(path()); }
};

/// Of `thrown` and of everything nested in it.
inline std::string all_texts_of(const std::exception& thrown) {
  std::string texts = thrown.what();
  try {
    std::rethrow_if_nested(thrown);
  } catch (const std::exception& nested) {
    texts += '\n' + all_texts_of(nested);
  }
  return texts;
}

}  // namespace rowlock::tests

#endif
