// The limit on SQLite: the library's own statements through its C API.
#include "race/bare_sqlite.hpp"

#include <sqlite3.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "race/rowlock_on_sqlite.hpp"
#include "rowlock/port/requests.hpp"
#include "rowlock/table_name.hpp"
#include "sqlite/sql/statements.hpp"

namespace rowlock::race {

namespace {

[[noreturn]] void fail(sqlite3* database) { throw std::runtime_error{sqlite3_errmsg(database)}; }

struct close_database {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using database = std::unique_ptr<sqlite3, close_database>;
using prepared = std::unique_ptr<sqlite3_stmt, finalize>;

/// One connection with its two statements.
class file {
 public:
  explicit file(const std::string& path) {
    sqlite3* opened = nullptr;
    const int result = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    database_.reset(opened);
    if (result != SQLITE_OK) fail(opened);
    sqlite3_busy_timeout(opened, 60'000);
    execute("PRAGMA journal_mode = WAL");
    execute("PRAGMA synchronous = FULL");
    acquire_ = prepare(sql::sqlite::acquire_row);
    release_ = prepare(sql::sqlite::release_row);
  }

  std::int64_t acquire(const lock_key& key, const std::string& owner) {
    auto* const statement = acquire_.get();
    bind_text(statement, 1, key.type);
    bind_text(statement, 2, key.source_id);
    bind_text(statement, 3, owner);
    bind_text(statement, 4, "bench");
    bind_text(statement, 5, "+60.000 seconds");
    sqlite3_bind_int64(statement, 6, 0);
    std::int64_t version = 0;
    while (step(statement)) version = sqlite3_column_int64(statement, 0);
    return version;
  }

  bool release(const lock_key& key, const std::string& owner, std::int64_t version) {
    auto* const statement = release_.get();
    bind_text(statement, 1, key.type);
    bind_text(statement, 2, key.source_id);
    bind_text(statement, 3, owner);
    sqlite3_bind_int64(statement, 4, version);
    sqlite3_bind_int64(statement, 5, 0);
    while (step(statement)) {
    }
    return sqlite3_changes(database_.get()) == 1;
  }

 private:
  void execute(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      fail(database_.get());
    }
  }
  prepared prepare(std::string_view sql) {
    const std::string text = table_name{}.in(sql);
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v3(database_.get(), text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &made,
                           nullptr) != SQLITE_OK) {
      fail(database_.get());
    }
    return prepared{made};
  }
  /// True for a row; after the last one the statement is ready for the next time.
  bool step(sqlite3_stmt* statement) {
    const int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) return true;
    if (sqlite3_reset(statement) != SQLITE_OK) fail(database_.get());
    return false;
  }
  /// `text` must live until the statement was executed.
  static void bind_text(sqlite3_stmt* statement, int place, std::string_view text) {
    sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), nullptr);
  }

  database database_;
  prepared acquire_;
  prepared release_;
};

class file_contender final : public polling_contender {
 public:
  file_contender(file& rows, std::mutex& turn) : polling_contender{{}}, rows_{rows}, turn_{turn} {}

  bool take(const lock_key& key) override {
    key_ = &key;
    owner_ = make_owner_id().text;
    const std::lock_guard lock{turn_};
    version_ = rows_.acquire(key, owner_);
    return version_ != 0;
  }
  void give_back() override {
    const std::lock_guard lock{turn_};
    if (!rows_.release(*key_, owner_, version_)) throw std::runtime_error{"not released"};
  }

 private:
  file& rows_;
  std::mutex& turn_;
  const lock_key* key_ = nullptr;
  std::string owner_;
  std::int64_t version_ = 0;
};

class file_entrance final : public entrance {
 public:
  explicit file_entrance(const place& where) : rows_{sqlite_file_in(where)} {}
  std::unique_ptr<contender> enter() override {
    return std::make_unique<file_contender>(rows_, turn_);
  }

 private:
  file rows_;
  std::mutex turn_;
};

}  // namespace

protocol bare_sqlite(std::string name) {
  return {.name = std::move(name),
          .runs_on = engine::sqlite,
          .build = build_on_sqlite,
          .open = [](const place& where) { return std::make_unique<file_entrance>(where); }};
}

}  // namespace rowlock::race
