// A SQLite file, as the library opens it: WAL, synchronous=FULL.
#include <SQLiteCpp/SQLiteCpp.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "rowlock/sqlite.hpp"
#include "rowlock/sqlite_store.hpp"
#include "subject.hpp"

namespace rowlock::bench {
namespace {

namespace fs = std::filesystem;

class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (fs::temp_directory_path() / "rowlock-bench.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error{errno, std::generic_category(), "cannot create " + name};
    }
    path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

class sqlite_subject final : public subject {
 public:
  sqlite_subject() { migrate_sqlite(file_); }

  store& locks() override { return locks_; }
  row_locker connect() override {
    auto database = std::make_shared<SQLite::Database>(file_, SQLite::OPEN_READWRITE);
    database->exec("PRAGMA synchronous = FULL");
    return [database](const lock_key& key) {
      return with_row_lock<sqlite_transaction>(*database, key, no_wait(),
                                               [](sqlite_transaction&) {})
          .acquired();
    };
  }

 private:
  temporary_folder folder_;
  std::string file_ = (folder_.path() / "bench.db").string();
  sqlite_store locks_{file_};
};

}  // namespace

std::unique_ptr<subject> make_sqlite_subject() { return std::make_unique<sqlite_subject>(); }

}  // namespace rowlock::bench
