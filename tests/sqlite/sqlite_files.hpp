// SQLite files as the tests of SQLite need them.
#ifndef ROWLOCK_TESTS_SQLITE_SQLITE_FILES_HPP
#define ROWLOCK_TESTS_SQLITE_SQLITE_FILES_HPP

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "rowlock/error.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/sqlite_store.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::tests {

using namespace std::chrono_literals;

/// A folder for the file; nothing in it yet.
class sqlite_test : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name = "locks.db") const {
    return folder_.path() / name;
  }

  [[nodiscard]] std::unique_ptr<SQLite::Database> open() const {
    return std::make_unique<SQLite::Database>(path(), SQLite::OPEN_READWRITE);
  }

  /// Another writer, which has the file until it is destroyed.
  [[nodiscard]] std::unique_ptr<SQLite::Database> rival_writer() const {
    auto rival = open();
    rival->exec("BEGIN IMMEDIATE");
    return rival;
  }

  [[nodiscard]] std::string text_of(const std::string& query) const {
    return open()->execAndGet(query).getString();
  }

  [[nodiscard]] acquire_request request(const lock_key& key) const {
    return {.key = key, .owner = mine_, .holder = "host:1", .ttl = 1h};
  }

  acquire_answer acquire(store& rows) const {
    return rows.acquire(std::array{request(key_)}).at(0);
  }

  const owner_id mine_ = make_owner_id();
  const lock_key key_{.type = "invoice", .source_id = "42"};
  const lock_key other_key_{.type = "invoice", .source_id = "43"};

 private:
  temp_folder folder_;
};

/// The file is there, with the table.
class migrated_sqlite_test : public sqlite_test {
 protected:
  migrated_sqlite_test() { migrate_sqlite(path()); }

  [[nodiscard]] version version_in_file(const lock_key& key) const {
    sqlite_store rows{path()};
    return rows.read(std::array{key}).at(0).value().version;
  }
};

/// The error that `work` throws.
inline error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const error& thrown) {
    return thrown;
  }
  throw std::logic_error{"it threw no error"};
}

inline testing::AssertionResult says(const error& thrown, const std::string& words) {
  if (std::string{thrown.what()}.find(words) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "it says: " << thrown.what();
}

}  // namespace rowlock::tests

#endif
